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

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
)

// Speed is what one training iteration takes, rollout batch and updates, without compiling and evaluation.
type Speed struct {
	FPS       float64 // frames per second
	Processor float64 // seconds of all cores together; 0 where the system does not report them
}

// MeasureSpeed trains so many rollout batches of e, at least 2. The first compiles; the best of the others counts, since
// other programs can only slow them down.
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

// sample is a measured rate on tasks with vector observations, a line of samplesFile in the folder of the store.
type sample struct {
	CPU    string  `json:"cpu"`
	Method string  `json:"method"`
	Budget string  `json:"budget"`
	FPS    float64 `json:"fps"`
}

const samplesFile = "rates.jsonl"

// samples are the measured rates of this processor; the last one of a method and budget counts.
func samples(st *results.Store, cpu string) (map[rateKey]float64, error) {
	data, err := results.ReadFile(filepath.Join(st.Dir(), samplesFile), 64<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found := map[rateKey]float64{}
	for in := bufio.NewScanner(bytes.NewReader(data)); in.Scan(); {
		var s sample
		if json.Unmarshal(in.Bytes(), &s) == nil && s.CPU == cpu && s.FPS > 0 { // a torn line is measured again
			found[rateKey{s.Method, s.Budget, 0}] = s.FPS
		}
	}
	return found, nil
}

// MeasureRates measures the methods of es that have no rate on this processor, each at its budget on the first of its tasks
// with vector observations: a rollout batch of images can take hours. It keeps the rates in the folder of st; report gets
// each as it comes.
func MeasureRates(ctx context.Context, es []experiment.Config, st *results.Store, report func(method, budget string, fps float64)) error {
	known, err := NewRates(st)
	if err != nil {
		return err
	}
	for _, e := range es {
		key := rateKey{MethodOf(e), e.Budget.Name, kind(e.Task.Kind())}
		if key.agents > 0 || known.here[key].runs > 0 || known.sampled[key] > 0 {
			continue
		}
		speed, err := MeasureSpeed(ctx, e, 2)
		if err != nil {
			return fmt.Errorf("%s at %s: %w", key.method, key.budget, err)
		}
		report(key.method, key.budget, speed.FPS)
		known.sampled[key] = speed.FPS
		if err := appendSample(st, sample{results.CollectHost("").CPU, key.method, key.budget, speed.FPS}); err != nil {
			return err
		}
	}
	return nil
}

// appendSample adds one line in one write, so that lines of several processes do not mix.
func appendSample(st *results.Store, s sample) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(st.Dir(), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(st.Dir(), samplesFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
