package crawls

import (
	"os/exec"
	"syscall"
	"time"
)

// process carries a crawl out.
type process struct {
	command *exec.Cmd // nil: this process has started none
	after   time.Time // nothing is started or interrupted before
}

// runs reports whether this process has started it, and it has not ended.
func (p *process) runs() bool { return p.command != nil }

// wait waits for its end, and returns its exit status; -1: a signal has ended it.
func (p *process) wait() (status int, err error) {
	err = p.command.Wait()
	return p.command.ProcessState.ExitCode(), err
}

// interrupt asks it to end its crawl, or kills it. It reports whether it is to be asked by an
// order, as an earlier process has started it.
func (p *process) interrupt(now time.Time, kill bool) (order bool) {
	switch {
	case now.Before(p.after):
		return false
	case p.command == nil:
		p.after = now.Add(5 * time.Second)
		return true
	case kill:
		_ = p.command.Process.Kill()
	default:
		_ = p.command.Process.Signal(syscall.SIGTERM)
	}
	p.after = now.Add(time.Hour) // once more would break off its requests
	return false
}
