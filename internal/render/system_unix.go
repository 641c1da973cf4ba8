//go:build unix

package render

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a process the first of a group, which interrupts of the terminal do not reach.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a process at once, or a group if the number is negative.
func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // it may have ended
