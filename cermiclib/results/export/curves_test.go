// SPDX-License-Identifier: Apache-2.0

package export

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// goldenDir is where recordings are read from: the committed copy or, if there are others, a folder of
// $CERMIC_GOLDEN_DIR.
func goldenDir() string {
	if dir := os.Getenv("CERMIC_GOLDEN_DIR"); dir != "" {
		dir = filepath.Join(envtest.FromRoot(dir), "benchmarl")
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	return filepath.FromSlash(recordedDir)
}

// tableRow is a row of the README's table: learner, task, runs, mean return at each evaluation, mean seconds a run.
var tableRow = regexp.MustCompile(`(?m)^\| (\w+) \| (\w+) \| (\d+) \| ([-0-9. ]+) \| (\d+)[^|]* \|$`)

func TestRecordedCurvesMatchTheirTable(t *testing.T) {
	dir := goldenDir()
	readme := must.Get(os.ReadFile(filepath.Join(dir, "README.md")))(t)
	files, err := filepath.Glob(filepath.Join(dir, "*"+recordedSuffix))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded curves in %s, %v", dir, err)
	}
	rows := map[string][]string{}
	for _, row := range tableRow.FindAllStringSubmatch(string(readme), -1) {
		rows[row[1]+"-"+row[2]+recordedSuffix] = row[3:]
	}
	if len(rows) != len(files) {
		t.Errorf("the table has %d rows for %d files", len(rows), len(files))
	}
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		rs, err := Import(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		row := rows[filepath.Base(file)]
		if row == nil || fmt.Sprint(len(rs)) != row[0] {
			t.Errorf("%s: %d runs, the table says %v", file, len(rs), row)
			continue
		}
		checkMeans(t, filepath.Base(file), rs, strings.Fields(row[1]))
	}
}

func checkMeans(t *testing.T, name string, rs []*results.Record, want []string) {
	t.Helper()
	for k, text := range want {
		x := must.Get(strconv.ParseFloat(text, 64))(t)
		mean := 0.0
		for _, r := range rs {
			if len(r.Evals) != len(want) || r.Frames != r.Evals[len(want)-1].Frames {
				t.Fatalf("%s: %d evaluations up to %d frames, want %d", name, len(r.Evals), r.Frames, len(want))
			}
			sum := 0.0
			for _, score := range r.Evals[k].Scores {
				sum += score
			}
			mean += sum / float64(len(r.Evals[k].Scores)) / float64(len(rs))
		}
		if math.Abs(mean-x) > 0.0051 { // the table has two digits, the recorded returns four
			t.Errorf("%s, evaluation %d: mean return %.4f, the table says %s", name, k, mean, text)
		}
	}
}

func TestBenchMARLKnowsItsCurvesByName(t *testing.T) {
	for _, task := range []string{"balance", "vmas/balance"} {
		rs, err := BenchMARL("mappo", task)
		if err != nil || len(rs) != 3 || rs[1].Seed != 1 || rs[0].Task != "vmas/balance" ||
			rs[0].Method != "BenchMARL mappo" || len(rs[0].Evals[0].Scores) != 60 || !rs[0].Complete || rs[0].Host.Seconds < 1 {
			t.Errorf("%s: %+v, %v", task, rs, err)
		}
	}
	if _, err := BenchMARL("mappo", "vmas/balence"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func recordedFile(t *testing.T) []byte {
	t.Helper()
	return must.Get(recorded.ReadFile(recordedDir + "mappo-balance" + recordedSuffix))(t)
}
