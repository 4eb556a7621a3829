// SPDX-License-Identifier: Apache-2.0

// Package sc2test is a stand-in for StarCraft II: a server of its API that fails on demand.
package sc2test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"cermic/envs/smac/sc2api"
)

// Game answers requests.
type Game interface {
	// Answer returns the bytes of a response without its id. An error becomes the response's error string.
	Answer(req *sc2api.Request) ([]byte, error)
}

// Fault is a kind of failure of one request.
type Fault int

// The faults.
const (
	Drop      Fault = iota + 1 // the connection is closed
	Malformed                  // the answer is not a message
	WrongID                    // the answer has the id of another request
	Silence                    // no answer
	Complaint                  // the answer is an error
	Over                       // the answer says that the match has ended
)

// Server serves one game to one client at a time.
type Server struct {
	Game     Game
	Loading  int           // number of connections answered with 404 first, like a loading game
	Faults   map[int]Fault // by number of the request, from 1, over all connections
	TextOnly bool          // answer in text frames, as PySC2's clients get them
	OnFault  func(Fault)   // called before a fault; may end the process
	OnQuit   func()        // called after the answer to quit; may end the process

	mu       sync.Mutex
	dials    int
	requests int
}

// Start serves at a free port of this machine until the test ends or the listener is closed.
func (s *Server) Start(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { l.Close() })
	return l
}

// Serve answers at l until it is closed.
func (s *Server) Serve(l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/sc2api", s.accept)
	server := http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	return server.Serve(l)
}

// Requests returns the number of requests so far.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.dials++
	loading := s.dials <= s.Loading
	s.mu.Unlock()
	if loading {
		http.NotFound(w, r)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // the client got an error
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	for s.answer(r.Context(), ws) {
	}
}

// answer serves one request and reports whether the connection stays open.
func (s *Server) answer(ctx context.Context, ws *websocket.Conn) bool {
	_, data, err := ws.Read(ctx)
	if err != nil {
		return false
	}
	req := new(sc2api.Request)
	if err := proto.Unmarshal(data, req); err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	fault := s.Faults[s.requests]
	if fault != 0 && s.OnFault != nil {
		s.OnFault(fault)
	}
	id := req.GetId()
	var answer []byte
	switch fault {
	case Drop:
		return false
	case Silence:
		return true
	case Malformed:
		answer = []byte{0xff, 0xff, 0xff}
	case Complaint:
		answer = complaint("something went wrong")
	default:
		if answer, err = s.Game.Answer(req); err != nil {
			answer = complaint(err.Error())
		}
	}
	if fault == WrongID {
		id += 7
	}
	if fault == Over {
		answer = protowire.AppendVarint(protowire.AppendTag(answer, statusField, protowire.VarintType),
			uint64(sc2api.Status_ended))
	}
	if fault != Malformed { // the last value of a repeated field counts, including the id
		answer = protowire.AppendVarint(protowire.AppendTag(answer, idField, protowire.VarintType), uint64(id))
	}
	kind := websocket.MessageBinary
	if s.TextOnly {
		kind = websocket.MessageText
	}
	if err := ws.Write(ctx, kind, answer); err != nil {
		return false
	}
	if req.GetQuit() != nil && s.OnQuit != nil {
		s.OnQuit()
	}
	return true
}

// Field numbers that the server adds to an answer.
const (
	idField     = 97
	statusField = 99
)

func complaint(text string) []byte {
	data, err := proto.Marshal(&sc2api.Response{Error: []string{text}})
	if err != nil {
		panic(err) // a string always has a wire form
	}
	return data
}
