// SPDX-License-Identifier: Apache-2.0

package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// swarmEnv holds a member of the swarm, as JSON.
const swarmEnv = "CERMIC_TEST_SWARM"

// member is one process of many that work off a store together. Those of one machine can see each other's processes, others only
// each other's signs of life.
type member struct {
	Store, Log, Host string
	Seed             uint64
	Runs             int
	Skew             time.Duration // of the machine's clock
	Rate             float64       // by which it runs fast or slow
	Silence          time.Duration
	Slow             time.Duration // most that a change of the store takes to arrive, as over a slow network
}

func swarmID(run int) string { return fmt.Sprintf("%016x", 0x5eed+run) }

func swarmExperiment(run int) []byte { return fmt.Appendf(nil, `{"run":%d}`, run) }

// swarmChild trains whatever run of the store is free, in an order of its own, until all are complete.
func swarmChild(text string) error {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	s, err := Open(m.Store)
	if err != nil {
		return err
	}
	began := time.Now()
	s.Note = func(string) {}
	s.lease.Me.Host, s.lease.Heartbeat, s.lease.TTL, s.lease.Poll = m.Host, m.Silence/40, m.Silence, m.Silence/40
	s.lease.Now = func() time.Time {
		return began.Add(m.Skew + time.Duration(float64(time.Since(began))*m.Rate))
	}
	if m.Slow > 0 {
		s.lease.Step = func() { time.Sleep(time.Duration(rand.Int64N(int64(m.Slow)))) }
	}
	log, err := os.OpenFile(m.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, wait := range []bool{false, true} {
		for _, run := range rand.New(rand.NewPCG(m.Seed, 1)).Perm(m.Runs) {
			for {
				err := m.train(s, log, run, wait)
				if errors.Is(err, ErrBusy) && wait {
					continue // it was asleep and has lost the run
				}
				if err != nil && !errors.Is(err, ErrBusy) {
					return err
				}
				break
			}
		}
	}
	return nil
}

// train is one run, with a line in the log where this process begins and where it ends.
func (m member) train(s *Store, log *os.File, run int, wait bool) error {
	r, err := s.Claim(context.Background(), swarmID(run), swarmExperiment(run), testHeader(), wait, nil)
	if err != nil {
		return err
	}
	if r.Complete() {
		return r.Close()
	}
	fmt.Fprintf(log, "%d begin %d\n", run, os.Getpid()) // one write of a line: lines of many processes do not mix
	err = train(r, func() { time.Sleep(15 * time.Millisecond) })
	if err == nil {
		fmt.Fprintf(log, "%d end %d\n", run, os.Getpid())
	}
	return errors.Join(err, r.Close())
}
