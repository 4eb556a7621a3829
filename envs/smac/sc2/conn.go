// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/proto"

	"cermic/envs/smac/sc2api"
)

// maxAnswer limits the length of an answer; the list of all unit types alone has hundreds of kilobytes.
const maxAnswer = 64 << 20

// conn exchanges messages with one game: one request, one response, in order. It is unusable after an error.
type conn struct {
	ws      *websocket.Conn
	patient time.Duration // timeout of one response
	id      uint32
}

// dial connects to a game that may still be starting. It retries until it succeeds, ended returns an error, or the
// timeout expires.
func dial(o *Options, address string, ended func() error) (*conn, error) {
	url := "ws://" + address + "/sc2api"
	deadline := time.Now().Add(o.StartTimeout)
	for tries := 1; ; tries++ {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		ws, answer, err := websocket.Dial(ctx, url, dialOptions)
		cancel()
		if err == nil {
			ws.SetReadLimit(maxAnswer)
			return &conn{ws: ws, patient: o.ReplyTimeout}, nil
		}
		if err := ended(); err != nil {
			return nil, err
		}
		// A loading game answers with 404, like another server, so only the timeout distinguishes them.
		if answer != nil && answer.StatusCode != http.StatusNotFound {
			return nil, fmt.Errorf("the program at %s is not StarCraft II: it answers %s", address, answer.Status)
		}
		if tries == 1 && len(o.Addresses) > 0 { // a running game answers at once, unless the address is wrong
			slog.Warn("StarCraft II does not answer yet", "address", address, "waiting for", o.StartTimeout)
		}
		if time.Now().Add(o.RetryEvery).After(deadline) {
			return nil, fmt.Errorf("no StarCraft II answers at %s within %v: %w", address, o.StartTimeout, err)
		}
		time.Sleep(o.RetryEvery)
	}
}

// call sends a request and returns the game's response.
func (c *conn) call(req *sc2api.Request) (*sc2api.Response, error) {
	c.id++
	req.Id = &c.id
	ctx, cancel := context.WithTimeout(context.Background(), c.patient)
	defer cancel()
	resp, err := c.exchange(ctx, req)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("the game does not answer %s within %v", req.Kind(), c.patient)
	case err != nil:
		return nil, fmt.Errorf("the connection to the game broke at %s: %w", req.Kind(), err)
	case resp.Id != nil && *resp.Id != c.id:
		return nil, fmt.Errorf("the game answers request %d, want an answer to %s, request %d", *resp.Id, req.Kind(), c.id)
	case len(resp.Error) > 0:
		return nil, fmt.Errorf("the game refuses %s: %s", req.Kind(), strings.Join(resp.Error, "; "))
	case resp.Kind() != req.Kind():
		return nil, fmt.Errorf("the game answers %q to %s", resp.Kind(), req.Kind())
	}
	return resp, nil
}

func (c *conn) exchange(ctx context.Context, req *sc2api.Request) (*sc2api.Response, error) {
	data, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	if err := c.ws.Write(ctx, websocket.MessageBinary, data); err != nil {
		return nil, err
	}
	_, data, err = c.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	resp := new(sc2api.Response)
	if err := proto.Unmarshal(data, resp); err != nil {
		return nil, fmt.Errorf("cannot decode an answer of %d bytes: %w", len(data), err)
	}
	return resp, nil
}

// close closes the connection without a handshake.
func (c *conn) close() { _ = c.ws.CloseNow() } // no one is left to report the error to
