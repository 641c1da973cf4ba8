package crawls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/internal/schedule"
)

// What follows a visit: a comparison with the visit before, and a notice of what has changed. Both
// follow from the numbers in Visits, so that what a kill breaks off is done again.

const (
	mostComparing = 2                // comparisons at once
	mostNoticing  = 4                // commands that take notices
	compareTakes  = 2 * time.Hour    // at most
	noticeTakes   = time.Minute      // at most
	compareTries  = 3                // then the changes of a visit stay unknown
	noticeTries   = 24 * time.Hour   // then a notice is given up
	mostAgain     = 10 * time.Minute // between two tries
	mostMail      = 1 << 20          // bytes of a notice
)

// attend starts what follows the visits of a crawl. f.mu is held.
func (f *Folder) attend(e *entry) {
	v, now := e.Visits, f.now()
	if f.closed || e.Deleting || f.o.leaves(e) {
		return
	}
	if v.Compared < v.Ended && f.o.Compare == nil {
		e.Visits.Compared, e.Visits.Noticed = v.Ended, v.Ended
		f.saved(e)
		return
	}
	if f.comparing < mostComparing && e.then.mustCompare(v, now) {
		f.comparing++
		ctx := e.then.compares.begin(now, f.life, compareTakes)
		f.beside.Go(func() { f.compare(ctx, e, v.Ended) })
	}
	if f.o.Notice != nil && f.noticing < mostNoticing && e.then.mustNotice(v, now) {
		f.noticing++
		ctx, n := e.then.notices.begin(now, f.life, noticeTakes), e.then.notify
		f.beside.Go(func() { f.notice(ctx, e, v.Noticed+1, n) })
	}
}

// compare compares a visit with the one before.
func (f *Folder) compare(ctx context.Context, e *entry, visit int) {
	err := f.keep(e.Name, visit, func(to io.Writer) error {
		args := f.o.Compare(f.Job(e.Name), visit)
		command := exec.CommandContext(ctx, args[0], args[1:]...)
		command.Dir, command.Stdout = f.dir, &bounded{to, mostChanges}
		return run(command)
	})
	changes, unread := f.ChangesOf(e.Name, visit)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.comparing--
	e.then.size.rests = false
	if !f.tried(e, &e.then.compares, err, e.then.compares.tries+1 >= compareTries, fmt.Sprintf("comparison of visit %d", visit)) {
		return
	}
	e.then.compared(&e.Visits, visit, unread == nil && changes.Differ())
	f.saved(e)
}

// notice gives the operator's command the changes of a visit, as a mail.
func (f *Folder) notice(ctx context.Context, e *entry, visit int, n schedule.Notice) {
	err := f.mail(ctx, e.Name, visit, n)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noticing--
	if f.tried(e, &e.then.notices, err, f.now().Sub(e.then.notices.since) > noticeTries, fmt.Sprintf("notice of visit %d", visit)) {
		e.Visits.Noticed = max(e.Visits.Noticed, visit)
		f.saved(e)
	}
}

func (f *Folder) mail(ctx context.Context, name string, visit int, n schedule.Notice) error {
	changes, err := f.ChangesOf(name, visit)
	if errors.Is(err, os.ErrNotExist) || err == nil && !changes.Differ() {
		return nil // nothing is known of it, or nothing has changed
	}
	if err != nil {
		return err
	}
	text := tail{most: mostMail}
	if err := f.o.Notice(&text, f.ChangesFile(name, visit), n.To); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, n.Command[0], n.Command[1:]...)
	command.Dir, command.Stdin = f.dir, bytes.NewReader(text.Bytes())
	command.Stdout = io.Discard
	return run(command)
}

// run runs a command beside the crawls. Its error has the end of what it has printed as error.
func run(command *exec.Cmd) error {
	words := &tail{most: 2 << 10, last: true}
	command.Stderr = words
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	err := command.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has done its part, and left another process that does the rest
	}
	if text := strings.TrimSpace(words.String()); err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// tail keeps the beginning of what is written, or its end.
type tail struct {
	bytes.Buffer
	most int
	last bool
}

func (t *tail) Write(p []byte) (int, error) {
	if !t.last {
		t.Buffer.Write(p[:min(len(p), t.most-t.Len())])
		return len(p), nil
	}
	t.Buffer.Write(p[max(0, len(p)-t.most):])
	t.Next(max(0, t.Len()-t.most))
	return len(p), nil
}

// tried takes in the outcome of a try, and reports whether it was the last. f.mu is held.
func (f *Folder) tried(e *entry, a *attempts, err error, enough bool, what string) bool {
	a.busy = false
	a.quit()
	defer f.awake()
	switch {
	case f.all[e.Name] != e || e.Deleting || err != nil && f.life.Err() != nil:
		return false
	case err == nil:
		a.tries, a.again = 0, time.Time{}
		return true
	case enough:
		a.tries, a.again = 0, time.Time{}
		err = fmt.Errorf("%s: given up: %w", what, err)
	default:
		a.tries++
		a.again = f.now().Add(min(time.Second<<min(a.tries-1, 20), mostAgain))
		err = fmt.Errorf("%s: %w", what, err)
	}
	e.Message = message(f.dir, err.Error())
	f.o.Warn(fmt.Errorf("%s: %w", e.Name, err))
	f.changed(e.Crawl)
	return enough
}

// saved saves a crawl that is another. f.mu is held.
func (f *Folder) saved(e *entry) {
	if err := f.save(&e.Crawl); err != nil {
		f.o.Warn(err)
	}
	f.changed(e.Crawl)
}
