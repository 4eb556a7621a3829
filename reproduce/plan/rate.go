// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
)

// Speed is what one iteration of a method takes.
type Speed struct {
	FPS       float64 // frames a second: rollout batch and updates, without compiling and evaluating
	Processor float64 // seconds of all cores together; 0 where the system does not tell. Other programs change it less than the wall clock
}

// MeasureSpeed trains so many rollout batches of e, at least 2, of which the first compiles and the best of the others counts, since other programs can
// only slow them down.
func MeasureSpeed(ctx context.Context, e experiment.Config, batches int) (best Speed, err error) {
	e.Budget.Frames = batches * e.Learner.CollectFrames()
	e.Budget.Name, e.Budget.EvalEvery, e.Budget.EvalEpisodes = CustomBudget, e.Budget.Frames, 1
	dir, err := os.MkdirTemp("", "cermic-speed")
	if err != nil {
		return best, err
	}
	defer os.RemoveAll(dir)
	st, err := results.Open(dir)
	if err != nil {
		return best, err
	}
	done, before := 0, 0.0
	_, err = experiment.Run(ctx, e, st, func(ev results.Event) {
		now, failed := results.ProcessorSeconds()
		if used := now - before; ev.Scalars != nil {
			if done++; done > 1 {
				best.FPS = max(best.FPS, ev.FPS)
				if failed == nil && (best.Processor == 0 || used < best.Processor) {
					best.Processor = used
				}
			}
		}
		before = now // also after an evaluation, which is left out
	})
	return best, err
}

// sample is one measured rate, as it is kept beside the runs.
type sample struct {
	CPU     string  `json:"cpu"`
	Backend string  `json:"backend"`
	Method  string  `json:"method"`
	Budget  string  `json:"budget"`
	FPS     float64 `json:"fps"`
}

// samplesFile lies in the folder of the store.
const samplesFile = "rates.jsonl"

// samples are the measured rates of a processor like this one; the last one of a method and budget counts.
func samples(st *results.Store, cpu string) (map[[2]string]float64, error) {
	data, err := results.ReadFile(filepath.Join(st.Dir(), samplesFile), 64<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := map[[2]string]float64{}
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		var s sample
		if json.Unmarshal(in.Bytes(), &s) == nil && s.CPU == cpu && s.FPS > 0 { // a line that is torn is measured again
			found[[2]string{s.Method, s.Budget}] = s.FPS
		}
	}
	return found, nil
}

// MeasureRates measures the methods of es, each at its budget on the first of its tasks of vectors, that have no rate on a processor like
// this one, and keeps what it finds in the folder of st. report gets each as it comes.
func MeasureRates(ctx context.Context, es []experiment.Config, st *results.Store, report func(method, budget string, fps float64)) error {
	backend, err := nn.Open()
	if err != nil {
		return err
	}
	var seen [][2]string
	for _, e := range es {
		key := [2]string{MethodOf(e), e.Budget.Name}
		if slices.Contains(seen, key) || kind(e.Task.Kind()) > 0 { // one rollout batch of pictures can take hours at the paper's budget
			continue
		}
		seen = append(seen, key)
		known, err := NewRates(st)
		if err != nil {
			return err
		}
		if known.measured(key[0], key[1]) {
			continue
		}
		speed, err := MeasureSpeed(ctx, e, 2)
		if err != nil {
			return fmt.Errorf("%s at %s: %w", key[0], key[1], err)
		}
		report(key[0], key[1], speed.FPS)
		s := sample{results.CollectHost("").CPU, backend.Label, key[0], key[1], speed.FPS}
		if err := appendSample(st.Dir(), s); err != nil {
			return err
		}
	}
	return nil
}

// appendSample adds one line in one write, so that lines of several processes do not mix.
func appendSample(dir string, s sample) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, samplesFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
