// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starts sends commands to the only thread that starts games.
var starts = sync.OnceValue(func() chan func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread() // permanently, see launch
		for job := range jobs {
			job()
		}
	}()
	return jobs
})

// launch starts cmd so that it ends with this program in any case: a game takes gigabytes. The kernel ties it to the
// starting thread, which must therefore live as long as the program. It has its own process group: otherwise Ctrl-C
// would kill the game, and the program would take it for broken and start another.
//
// Only the process of cmd itself is tied, so a wrapper script should exec the game.
func launch(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	result := make(chan error)
	starts() <- func() { result <- cmd.Start() }
	return <-result
}

// kill ends the process group that launch started.
func kill(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
