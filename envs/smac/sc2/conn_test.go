// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"cermic/envs/envtest/must"
	"cermic/envs/smac/sc2/sc2test"
	"cermic/envs/smac/sc2api"
)

// talker answers every request with a version of the given length.
type talker int

func (n talker) Answer(*sc2api.Request) ([]byte, error) {
	version := strings.Repeat("5", int(n))
	ping := &sc2api.ResponsePing{GameVersion: &version}
	return proto.Marshal(&sc2api.Response{Response: &sc2api.Response_Ping{Ping: ping}})
}

// Long answers are read; endless ones are not.
func TestAnAnswerIsReadUpToALimit(t *testing.T) {
	for size, read := range map[int]bool{1 << 20: true, maxAnswer: false} {
		l := must.Value(net.Listen("tcp", "127.0.0.1:0"))
		defer l.Close()
		go (&sc2test.Server{Game: talker(size)}).Serve(l)
		o := Options{StartTimeout: time.Minute, ReplyTimeout: time.Minute, RetryEvery: time.Millisecond}
		c := must.Value(dial(&o, l.Addr().String(), func() error { return nil }))
		defer c.close()
		answer, err := c.call(&sc2api.Request{Request: &sc2api.Request_Ping{Ping: &sc2api.RequestPing{}}})
		if (err == nil) != read || read && len(answer.GetPing().GetGameVersion()) != size {
			t.Errorf("a version of %d bytes: %.200v", size, err)
		}
		if !read && (err == nil || !strings.Contains(err.Error(), "read limited")) {
			t.Errorf("got %.200v, want an error that names the limit", err)
		}
	}
}
