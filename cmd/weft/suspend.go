package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// heedSuspension has Ctrl-Z clear what is drawn before the process stops, so that the
// shell's prompt stands alone; it is drawn again when the process goes on. It holds
// until the process ends, for Go's handler, once installed, keeps the signal from
// stopping anything.
//
// Where the process is in the group of its session's leader, nobody could continue it,
// and the kernel lets the signal pass (POSIX, General Terminal Interface, section
// 11.1.4): so does this.
func (s *screen) heedSuspension() {
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
