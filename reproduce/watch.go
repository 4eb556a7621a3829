// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image/gif"
	"io"
	"path/filepath"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// runWatch plays the first episode of an evaluation with the weights of a run and writes it as a film.
func runWatch(ctx context.Context, out io.Writer, args []string) error {
	var store, file string
	var speed float64
	ids, err := parse("watch", out, args, 1, func(f *flag.FlagSet) {
		f.StringVar(&file, "o", "film.gif", "`file` to write; it ends in .gif")
		f.Float64Var(&speed, "speed", 20, "environment `steps` a second")
		f.StringVar(&store, "store", defaultStore, "`folder` of the runs")
		backendFlag(f)
	})
	switch {
	case err != nil:
		return err
	case len(ids) != 1:
		return usagef("watch: want the ID of a run, which go run ./reproduce status prints")
	case !(speed > 0 && speed <= 100):
		return usagef("-speed is %g, want more than 0 and at most 100 steps a second", speed)
	case strings.EqualFold(filepath.Ext(file), ".mp4"):
		return usagef("-o %s: films are GIFs, as Go has no well-kept MP4 encoder without cgo; ffmpeg -i film.gif film.mp4 converts one", file)
	case !strings.EqualFold(filepath.Ext(file), ".gif"):
		return usagef("-o %s: want a name that ends in .gif", file)
	}
	st, err := openStore(store)
	if err != nil {
		return err
	}
	e, err := plan.Stored(st, ids[0])
	if err != nil {
		return usageError{located(err)}
	}
	scenes, eval, err := experiment.Episode(ctx, e, st)
	if err != nil {
		return err
	}
	film, err := viz.Animate(scenes, speed)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, film); err != nil {
		return err
	}
	if err := results.WriteFile(file, b.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s on %s, seed %d, after %d frames of training: score %.4g in %d steps\n",
		file, e.Label(), e.Task.Kind(), e.Seed, eval.Frames, eval.Scores[0], eval.Lengths[0])
	return err
}
