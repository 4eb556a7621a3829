// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The folders in testdata/earlier are the toy run's as an earlier version left them.
func earlier(t *testing.T, kind string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "earlier", kind))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestARunOfAnEarlierVersionIsRead(t *testing.T) {
	dir := earlier(t, "complete")
	s := openTest(t, dir)
	want, err := openTest(t, complete(t)).Get(testID)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(testID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v\nwant %+v", got, err, want)
	}
	if got, err := s.Briefs(Query{Complete: true}); err != nil || len(got) != 1 || got[0].Score() != want.Score() {
		t.Errorf("listed is %+v, %v", got, err)
	}
	if c, err := s.Checkpoint(testID); err != nil || c.Frames != testTotal || c.Meta["note"] == "" {
		t.Errorf("its checkpoint is %+v, %v", c, err)
	}
	if r := claimTest(t, s); !r.Complete() || r.Close() != nil {
		t.Error("it can be trained as if it were not complete")
	}
	for _, name := range []string{earlierHead, earlierEvals, earlierScalars, earlierDone} {
		good := read(t, dir, name)
		eachDamage(good, func(bad []byte) {
			write(t, dir, name, bad)
			if got, err := s.Get(testID); got != nil || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s is %q: got %+v, %v", name, bad, got, err)
			}
		})
		write(t, dir, name, good)
	}
}

func TestAPartialRunOfAnEarlierVersionIsReadAndNotGoneOnWith(t *testing.T) {
	dir := earlier(t, "partial")
	s := openTest(t, dir)
	write(t, dir, earlierScalars, append(read(t, dir, earlierScalars), `{"crc":"00000000","v":{"fra`...)) // it still grows
	if got, err := s.Get(testID); err != nil || got.Complete || got.Frames != 500 || len(got.Scalars["loss"]) != 5 || len(got.Evals) != 2 {
		t.Errorf("read %+v, %v", got, err)
	}
	_, err := s.Claim(t.Context(), testID, []byte(testExperiment), testHeader(), false, nil)
	if err == nil || !strings.Contains(err.Error(), "remove the folder to train the run anew") {
		t.Errorf("it is gone on with, %v", err)
	}
	if found, err := os.ReadDir(filepath.Join(dir, testID)); err != nil || len(found) != 4 {
		t.Errorf("its folder is changed: %v, %v", found, err)
	}
	if err := s.Delete(testID); err != nil {
		t.Error(err)
	}
}
