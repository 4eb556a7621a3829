// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// impossible are command lines that cannot be followed. STORE stands for an empty folder's path, FILE for that of a file.
var impossible = []struct {
	args string
	code int
	want string // part of the sentence
}{
	{"trian", 2, "did you mean train?"},
	{"train -metod mappo", 2, "did you mean method?"},
	{"train mappo", 2, `takes no argument "mappo"`},
	{"status mappo", 2, `takes no argument "mappo"`},
	{"campaign balance", 2, `takes no argument "balance"; did you mean -task balance?`},
	{"train -task vmas/balanse", 2, "did you mean vmas/balance?"},
	{"train -task nothing/like/it", 2, `unknown task "nothing/like/it"`},
	{"train -task balance,, -method mappo", 2, `unknown task ""`},
	{"train -method mapo", 2, "did you mean mappo"},
	{"train -task=", 2, "task: the value is empty, as an unset shell variable is"},
	{"train -method=", 2, "the value is empty"},
	{"train method=", 2, "the value is empty"},
	{"curves -method=", 2, "the value is empty"},
	{"list -task=", 2, "the value is empty"},
	{"train -budget papper", 2, "did you mean paper"},
	{"train -table sotta", 2, "did you mean sota"},
	{"train -table sota -set learner.lr=1", 2, "train -table does not read -set, since the table says what is compared"},
	{"train -set learner.lrr=1", 2, "did you mean learner.lr"},
	{"train -set learner.lr", 2, "want key=value"},
	{"train -set learner.lr=fast", 2, "learner.lr"},
	{"train -set learner.lr=-1", 2, "learner.lr is -1, want a positive number"},
	{"train -set learner.lr=NaN", 2, "learner.lr"},
	{"train -set learner.lr=-1", 2, "(Adam's step size; the paper: 1e-4)"},
	{"train -set learner.frames_per_batch=many", 2, "(frames of a rollout batch"},
	{"train -method mappo-cermic -set explore.lr=-1", 2, "(Adam's step size for the module; the paper: 1e-4)"},
	{"train -set task.reward=sparce", 2, "one of dense, sparse)"},
	{"list -set learner.lr=1", 2, "reads -set only with -method"},
	{"train -set learner=mapo", 2, "did you mean mappo?"},
	{"train -set policy=mpl", 2, "or mlp?"},
	{"train -set explore=cermicc", 2, "did you mean cermic?"},
	{"train -set explore.memory=mpl", 2, "mlp?"},
	{"train -set explore.lb_sign=printd", 2, `lb_sign is "printd"; did you mean printed?`},
	{"train -set explore.c_bar=0.1", 2, "no code can satisfy both exploitation losses"},
	{"train -set explore.d_x=0", 2, "d_x is 0, want 1 to 8192"},
	{"train -set task.copies=0", 2, "copies is 0, want 1 to 65536"},
	{"train -set task.copies=7", 2, "want a multiple of the 7 parallel environments"},
	{"train -set task.n_agents=-3", 2, "n_agents is -3"},
	{"train -set task.reward=sparce", 2, `reward is "sparce"`},
	{"train -set learner.minibatch_size=0", 2, "minibatch_size is 0"},
	{"train -set policy.hidden=0", 2, "policy.hidden[0] is 0"},
	{"train -set budget.frames=0", 2, "frames is 0"},
	{"train -set seed=-1", 2, "seeds are counted by -seeds"},
	{"train -set forks=[]", 2, "branches off another by -fork"},
	{"train -fork 0123abcd", 2, "want ID@FRAMES"},
	{"train -fork 0123abcd@half", 2, "want ID@FRAMES"},
	{"train -fork 0123abcd@3000 -set explore.alpha=1", 2, `no run "0123abcd"`},
	{"train -fork 0123abcd@3000 -method mappo", 2, "train -fork does not read -method, since the run that it goes on from says it"},
	{"train -frames 60000", 2, "did you mean -set budget.frames=…?"},
	{"train -lr 1", 2, "did you mean -set learner.lr=…"},
	{"train -task balance -task wheel", 2, "the flag is given twice"},
	{"train task=balance -task wheel", 2, "the flag is given twice"},
	{"train learner.lrr=1", 2, "did you mean learner.lr"},
	{"train algorithm=mapo", 2, "did you mean mappo"},
	{"train learner.lr=1e-3,3e-4", 2, "add -multirun"},
	{"train -table sota -task balance", 2, "train -table does not read -task, since the table says what is compared: leave out -task"},
	{"train -table sota -budget nothing", 2, `unknown budget "nothing"`},
	{"train -again -seeds 2 0123abcd", 2, "train -again ID does not read -seeds"},
	{"train -again 0123abcd", 2, `no run "0123abcd"`},
	{"train 0123abcd", 2, "it names a run only with -again"},
	{"train -backend nonsense", 2, "unknown backend"},
	{"train -method mappo -backend xla:nonsense", 1, "GOMLX_BACKEND=xla:nonsense cannot be used"},
	{"notebooks -budget no", 2, `unknown budget "no"`},
	{"notebooks -cell 0", 2, "-cell"},
	{"notebooks -cell 0s", 2, "-cell is 0s, want at least 1s"},
	{"notebooks -thumbnails -write", 2, "notebooks -thumbnails does not read -write"},
	{"campaign -plan -budget short", 2, "campaign -plan without -table -task -method does not read -budget"},
	{"campaign -task balance -method mappo -nodes 3", 2, "campaign reads -nodes only with -plan"},
	{"watch 0123abcd -o film.mp4", 2, "films are GIFs"},
	{"watch 0123abcd -speed 0", 2, "-speed is 0"},
	{"delete 0123abcd", 2, `no run "0123abcd"`},
	{"delete", 2, "want IDs of runs"},
	{"lab -port 99999", 2, "-port is 99999"},
	{"lab -prot 8890", 2, "did you mean port?"},
	{"train -seeds -1", 2, "-seeds is -1"},
	{"train -seeds 99999999999999999999", 2, "-seeds"},
	{"train -workers 0", 2, "-workers is 0"},
	{"train -method mappo -store FILE", 1, "is a file, want a folder"},
	{"train -method mappo -store FILE/runs", 1, "FILE"},
	{"train -store=", 2, "-store: want the name of a folder"},
	{"curves -o= -task balance", 2, "-o: want the name of a file"},
	{"train -store=~/runs", 2, "a shell writes ~ out only at the beginning of a word"},
	{"train -store=a\x1bb", 2, "the name of a folder has no control characters"},
	{"status -store nothing/here", 2, "there is no folder nothing/here, which -store names"},
	{"table sota -store nothing/here", 2, "there is no folder nothing/here"},
	{"train -task protoss_5_vs_5 -set task.sc2_version=latest", 2, `sc2_version is "latest", want numbers`},
	{"status -store FILE", 1, "is a file, want a folder"},
	{"status extra", 2, `takes no argument "extra"`},
	{"list -x", 2, "list has no flag -x"},
	{"table sotta", 2, "did you mean sota"},
	{"table sota -budget shrt", 2, "did you mean short?"},
	{"curves -budget shrt", 2, "did you mean short?"},
	{"curves -method mapo", 2, "did you mean mappo"},
	{"curves -task navigation -reward sparse -budget paper", 1, "train -task navigation -budget paper -set task.reward=sparse"},
	{"export csv -budget shrt", 2, "did you mean short?"},
	{"check -budget shrt", 2, "did you mean short?"},
	{"check -task balanse", 2, "did you mean balance?"},
	{"check -task balance -method nothing", 1, "status -committed lists"},
	{"bench -only zz", 2, "known: "},
	{"bench -rounds 3", 2, "bench reads -rounds only with -peers"},
	{"train -method qmix -set explore.alpha=1", 2, `explore is "none", which has no settings`},
}

func TestImpossibleCommandsAreRefusedInOneSentence(t *testing.T) {
	for _, c := range impossible {
		dir := t.TempDir()
		file, store := filepath.Join(dir, "file"), filepath.Join(dir, "store")
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(strings.ReplaceAll(c.args, "FILE", file))
		if args[0] == "train" && !strings.Contains(c.args, "-store") {
			args = append(args, "-store", store)
		}
		p := start(t, args...)
		code, text := p.end(), p.stderr.String()
		if code != c.code || len(p.said) > 0 {
			t.Errorf("%s: exit code %d, want %d, and %q on the standard output, want nothing", c.args, code, c.code, p.said)
		}
		want := strings.ReplaceAll(c.want, "FILE", file)
		if !strings.HasPrefix(text, "reproduce: ") || strings.Count(text, "\n") != 1 || !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want one sentence with %q", c.args, text, want)
		}
		if _, err := os.Stat(store); err == nil {
			t.Errorf("%s: left a store behind", c.args)
		}
	}
}

// TestSettingsKeepTheOrderOfTheCommandLine: given as arguments KEY=VALUE or with -set, so that the last one counts.
func TestSettingsKeepTheOrderOfTheCommandLine(t *testing.T) {
	var set repeated
	line := strings.Fields("explore.d_x=8 -set explore.d_x=16 explore.d_x=32 -set explore.d_x=64")
	plain, err := parse("train", io.Discard, line, 0, func(f *flag.FlagSet) { f.Var(&set, "set", "") })
	if want := "explore.d_x=8 explore.d_x=16 explore.d_x=32 explore.d_x=64"; err != nil || len(plain) != 0 || set.String() != want {
		t.Errorf("%s, arguments %q, error %v; want %s", set.String(), plain, err, want)
	}
}

// No verb takes for the name of a file or a folder what nobody can have meant.
func TestNamesOfFilesAreNames(t *testing.T) {
	met := 0
	for _, v := range verbs() {
		for _, name := range flagsOf(t, v.name) {
			if !slices.Contains([]string{"store", "o", "manifest", "with"}, name) {
				continue
			}
			met++
			for _, bad := range []string{"", " \t", "a\nb", "\x1b[2J", "\xff", "\u202eab", "~", "~/runs"} {
				err := dispatch(t.Context(), io.Discard, []string{v.name, "-" + name + "=" + bad})
				if !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), "-"+name) {
					t.Errorf("%s -%s=%q: got %v", v.name, name, bad, err)
				}
			}
		}
	}
	if met < 15 {
		t.Errorf("%d flags were looked at", met)
	}
}
