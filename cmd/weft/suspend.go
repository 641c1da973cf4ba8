package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// handleSuspend makes Ctrl-Z clear the drawing before the process stops, so that the shell's
// prompt stands alone; the next draw follows when the process continues. It holds until the
// process ends: once installed, Go's handler keeps the signal from stopping the process.
//
// In the process group of the session leader, nobody could continue the process, so the
// kernel ignores the signal (POSIX, General Terminal Interface, section 11.1.4); so does this.
func (s *screen) handleSuspend() {
	if leader, err := unix.Getsid(0); err != nil || leader == unix.Getpgrp() {
		return
	}
	asked, resumed := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(asked, unix.SIGTSTP)
	signal.Notify(resumed, unix.SIGCONT)
	go func() {
		for range asked {
			s.aside(func() {
				select {
				case <-resumed: // of an earlier stop, by SIGSTOP
				default:
				}
				if unix.Kill(unix.Getpid(), unix.SIGSTOP) == nil {
					<-resumed
				}
			})
		}
	}()
}
