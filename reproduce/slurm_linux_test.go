// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
)

// startCluster starts a Slurm of one node of its own, without systemd, and stops it when the test ends.
func startCluster(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s here; .ci/install scheduler brings it", program)
		}
	}
	dir := must.Get(os.MkdirTemp("", "slurm"))(t) // short: sockets have short names
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	me := must.Get(user.Current())(t)
	host := must.Get(os.Hostname())(t)
	key := make([]byte, 1024)
	_, _ = rand.Read(key)
	conf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
SlurmUser=%[4]s
SlurmdUser=%[4]s
AuthType=auth/munge
AuthInfo=socket=%[5]s/munge.socket
CredType=cred/munge
StateSaveLocation=%[5]s
SlurmdSpoolDir=%[5]s/spool
SlurmctldPidFile=%[5]s/slurmctld.pid
SlurmdPidFile=%[5]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, freePort(t), freePort(t), me.Username, dir)
	write(t, filepath.Join(dir, "key"), string(key), 0o400)
	write(t, filepath.Join(dir, "slurm.conf"), conf, 0o644)
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	daemon(t, "munged", "--foreground", "--force", "--key-file="+dir+"/key", "--socket="+dir+"/munge.socket",
		"--pid-file="+dir+"/munge.pid", "--log-file="+dir+"/munge.log", "--seed-file="+dir+"/munge.seed")
	waitFor(t, 10*time.Second, "munge", func() bool { _, err := os.Stat(dir + "/munge.socket"); return err == nil })
	daemon(t, "slurmctld", "-D", "-c")
	daemon(t, "slurmd", "-D", "-c")
	waitFor(t, 30*time.Second, "the node", func() bool {
		return strings.Contains(slurmSays(t, "sinfo", "-h", "-o", "%t"), "idle")
	})
}

func freePort(t *testing.T) int {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func daemon(t *testing.T, name string, args ...string) {
	t.Helper()
	d := exec.Command(name, args...)
	must.Do(t, d.Start())
	t.Cleanup(func() { _ = d.Process.Kill(); _ = d.Wait() })
}

func slurmSays(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, _ := exec.Command(name, args...).CombinedOutput()
	return string(out)
}

func waitFor(t *testing.T, limit time.Duration, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ready(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come within %v", what, limit)
		}
	}
}

// slowCampaign is four seeds of the tiny training, slow enough to be disturbed.
func slowCampaign(store string, more ...string) []string {
	return append(tinyCampaign(store, "learner.minibatch_iterations=240"), append([]string{"-seeds", "4"}, more...)...)
}

// owners are the process ids of the store's runs in training, by run.
func owners(t *testing.T, store string) map[string]int {
	t.Helper()
	st := must.Get(results.Open(store))(t)
	ids, _ := st.IDs() // none before the first claim
	out := map[string]int{}
	for _, id := range ids {
		var pid int
		if n, _ := fmt.Sscanf(st.Owner(id), "process %d on", &pid); n == 1 {
			out[id] = pid
		}
	}
	return out
}

// Two tasks of two runs each are cancelled and submitted again; then one is killed, the other is requeued, the node is
// drained and resumed. Every run completes once, with the result of an undisturbed one.
func TestACampaignOnSlurmSurvivesTheCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a scheduler")
	}
	startCluster(t)
	whole, store := t.TempDir(), filepath.Join(t.TempDir(), "my runs") // a space must not split it
	first := finish(t, slowCampaign(store, "-on", "slurm", "-bundle", "2")...)
	contains(t, first, "Submitted batch job", "4 runs in 2 tasks")
	waitFor(t, 60*time.Second, "a run", func() bool { return len(owners(t, store)) > 0 })
	slurmSays(t, "scancel", "1")
	waitFor(t, 30*time.Second, "the end of what was cancelled", func() bool { return slurmSays(t, "squeue", "-h") == "" })
	out := finish(t, slowCampaign(store, "-on", "slurm", "-bundle", "2")...)
	submitted := regexp.MustCompile(`Submitted batch job (\d+): [34] runs in 2 tasks`).FindStringSubmatch(out) // one may be complete
	if submitted == nil {
		t.Fatalf("submission after cancelling:\n%s", out)
	}
	job := submitted[1]
	waitFor(t, 60*time.Second, "a run", func() bool { return len(owners(t, store)) > 0 })
	for _, pid := range owners(t, store) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	slurmSays(t, "scontrol", "requeue", job+"_1")
	host, _ := os.Hostname()
	slurmSays(t, "scontrol", "update", "nodename="+host, "state=drain", "reason=test")
	time.Sleep(time.Second)
	slurmSays(t, "scontrol", "update", "nodename="+host, "state=resume")
	st := must.Get(results.Open(store))(t)
	complete := func() []*results.Record {
		return must.Get(st.Find(results.Query{Complete: true}))(t)
	}
	waitFor(t, 240*time.Second, "the last run", func() bool {
		for task := range 2 { // Slurm holds back for minutes what was queued again
			slurmSays(t, "scontrol", "update", fmt.Sprintf("jobid=%s_%d", job, task), "starttime=now")
		}
		return len(complete()) == 4
	})
	finish(t, slowCampaign(whole)...)
	undisturbed := must.Get(results.Open(whole))(t)
	for _, r := range complete() {
		want := must.Get(undisturbed.Get(r.ID))(t)
		if difference := results.Difference(want, r); difference != "" {
			t.Errorf("seed %d: %s", r.Seed, difference)
		}
	}
	ends := map[string]int{}
	logs, _ := filepath.Glob(filepath.Join(store, "campaigns", "*", "*.log"))
	for _, path := range logs {
		text := must.Get(os.ReadFile(path))(t)
		for line := range strings.Lines(string(text)) {
			if run, _, last := strings.Cut(line, "  300/300  "); last {
				ends[run]++
			}
		}
	}
	for run, times := range ends {
		if times != 1 {
			t.Errorf("%s was trained to its end %d times", run, times)
		}
	}
	if len(ends) != 4 {
		t.Errorf("the logs %v tell of the ends %v", logs, ends)
	}
	if out := finish(t, slowCampaign(store, "-on", "slurm")...); !strings.Contains(out, "Nothing is missing.") {
		t.Errorf("a second submission:\n%s", out)
	}
}
