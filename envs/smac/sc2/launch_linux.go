// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starts hands commands to the one thread that starts games.
var starts = sync.OnceValue(func() chan func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread() // for ever, see launch
		for job := range jobs {
			job()
		}
	}()
	return jobs
})

// launch starts cmd so that it ends with this program, however that ends: a game takes gigabytes. The kernel ties it to the
// thread that starts it, which therefore must live as long as the program. It has a process group of its own: Ctrl-C in a
// terminal is for this program alone, which would take a game that dies of it for a broken one and start another.
//
// Only the process that cmd starts is tied, so that a script in the game's place had better exec the game.
func launch(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	result := make(chan error)
	starts() <- func() { result <- cmd.Start() }
	return <-result
}

// kill ends what launch started and all that came of it.
func kill(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
