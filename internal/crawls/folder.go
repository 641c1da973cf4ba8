package crawls

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/internal/schedule"
)

// Errors.
var (
	ErrUnknown = errors.New("there is no such crawl")
	ErrOther   = errors.New("another crawl was asked for with this key")
	ErrMany    = errors.New("there is no room for another crawl: delete some")
	ErrRuns    = errors.New("the crawl has not ended: stop it first, or wait")
	ErrInUse   = errors.New("another process serves this folder")
	ErrLeaving = errors.New("the crawl with this key is being deleted: try again in a moment")
	ErrOwn     = errors.New("its schedule is in a file of the operator, which no request changes")
)

// Options are those of a folder.
type Options struct {
	Running int                    // crawls at a time; 0: 4
	Most    int                    // crawls in all; 0: 10,000
	Asked   bool                   // carry out only what the operator has asked for once: see leaves
	Limits  func(by string) Limits // of one user; nil: none
	Warn    func(error)            // takes what goes wrong beside any request; nil: nobody
	Changed func(Crawl)            // takes a crawl that has started or ended; nil: nobody

	// Command returns program and arguments that carry out a crawl: its first visit or the rest of the
	// last one, or the next visit.
	Command func(Run) []string
	Visited func(job string) (Visited, error) // reads how far a job is; nil: it is at visit 1

	Compare func(job string, visit int) []string // command that prints the changes of a visit

	// Notice writes such a file as a mail to addresses; "": to none.
	Notice func(w io.Writer, changes, to string) error
}

// leaves reports whether a crawl is left to a process that carries out all: it belongs to a file of
// the operator, a schedule or a webhook, or to a user with limits.
func (o *Options) leaves(e *entry) bool {
	return o.Asked && (e.Own || e.Schedule != nil || e.Hook || e.By != "" || e.Visits.Begun > 1)
}

// Folder is a folder with crawls.
type Folder struct {
	files
	o    Options
	lock *os.File
	wake chan struct{} // has a value when there may be something to start

	now    func() time.Time
	life   context.Context // of what follows visits
	end    context.CancelFunc
	beside sync.WaitGroup

	mu     sync.Mutex
	all    map[string]*entry
	closed bool
	news   chan struct{} // closed when a crawl changes
	up     time.Time     // since when crawls are looked at
	looked time.Time     // last

	own                 ownFiles
	waits               map[string]*Wait // of queued crawls, as last looked at
	comparing, noticing int              // that run
	scales              scales
}

// openLocked opens a file to append to, and locks it until it is closed by all who have it.
func openLocked(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: no regular file", path)
	}
	if err == nil {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// unlock closes a locked file. A process that is just being started may still have it: the lock is
// gone all the same.
func unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// Dir returns the path of the folder.
func (f *Folder) Dir() string { return f.dir }

// Job returns the path of a crawl's job, which need not be there yet.
func (f *Folder) Job(name string) string { return f.path(name, jobFolder) }

// Log returns the path of the messages of a crawl's process.
func (f *Folder) Log(name string) string { return f.path(name, ".log") }

// Hook returns the path of what is told of a crawl elsewhere, and to whom.
func (f *Folder) Hook(name string) string { return f.path(name, ".hook") }

// SaveHook writes that file, unless the crawl is being deleted. Errors: ErrUnknown, those of the
// system.
func (f *Folder) SaveHook(name string, text []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.all[name]; e == nil || e.Deleting {
		return ErrUnknown
	}
	return f.write(f.Hook(name), text)
}

// Add asks for a crawl. When it returns, the crawl is known for good. It reports whether the crawl
// is new, or has been asked for before with the same key. Errors: ErrMany; ErrOther; those of the
// system, after which nothing is left.
func (f *Folder) Add(a Ask) (Crawl, bool, error) {
	id := strings.ToLower(rand.Text())[:13]
	if a.Key != "" {
		sum := sha256.Sum256([]byte(a.By + "\x00" + a.Key))
		id = strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:26]
	}
	c := Crawl{Name: id, By: a.By, Digest: a.Digest, Note: a.Note, Created: time.Now(), State: Queued, Hook: a.Hook != nil}
	c.about(a.Seeds)
	e := &entry{Crawl: c}
	if err := e.follow(a.Rule, f.now()); err != nil {
		return Crawl{}, false, err
	}
	c = e.Crawl
	text, err := plan(a)
	if err != nil {
		return Crawl{}, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if had := f.all[c.Name]; had != nil {
		if had.Deleting {
			return Crawl{}, false, ErrLeaving
		}
		if had.Digest != a.Digest {
			return Crawl{}, false, ErrOther
		}
		return had.Crawl, false, nil
	}
	if own := ownOf(a.By, f.all); len(f.all) >= f.o.Most || a.By != "" && own >= max(1, f.o.Most/ownPart) {
		return Crawl{}, false, ErrMany
	}
	if err := admit(a.By, f.o.Limits(a.By), f.all); err != nil {
		return Crawl{}, false, err
	}
	if c.Hook {
		err = f.write(f.Hook(c.Name), a.Hook)
	}
	if err == nil {
		err = f.write(f.path(c.Name, ".toml-new"), text)
	}
	if err == nil {
		err = f.save(&c)
	}
	if err == nil {
		err = f.complete(&c)
	}
	if err != nil {
		return Crawl{}, false, errors.Join(err, f.remove(c.Name))
	}
	e.then.size.bytes = int64(len(text) + len(a.Hook)) // until it is measured
	f.all[c.Name] = e
	f.awake()
	return c, true, nil
}

// Get returns a crawl. Error: ErrUnknown.
func (f *Folder) Get(name string) (Crawl, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.all[name]
	if e == nil || e.Deleting {
		return Crawl{}, ErrUnknown
	}
	return e.Crawl, nil
}

// Waits returns the reason why a queued crawl does not run; nil: none is known.
func (f *Folder) Waits(c *Crawl) *Wait {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.State != Queued {
		return nil
	}
	return f.waits[c.Name]
}

// Await returns a crawl as soon as is says so, or as it is when ctx ends. Error: ErrUnknown.
func (f *Folder) Await(ctx context.Context, name string, is func(*Crawl) bool) (Crawl, error) {
	for {
		f.mu.Lock()
		news := f.news
		f.mu.Unlock()
		c, err := f.Get(name)
		if err != nil || is(&c) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return c, nil
		case <-news:
		}
	}
}

// changed tells who waits that a crawl is another. f.mu is held.
func (f *Folder) changed(c Crawl) {
	close(f.news)
	f.news = make(chan struct{})
	f.o.Changed(c)
}

// List returns the crawls that keep selects, the oldest first.
func (f *Folder) List(keep func(*Crawl) bool) []Crawl {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Crawl
	for _, e := range f.inOrder() {
		if !e.Deleting && keep(&e.Crawl) {
			all = append(all, e.Crawl)
		}
	}
	return all
}

// inOrder returns all crawls, the oldest first. f.mu is held.
func (f *Folder) inOrder() []*entry {
	all := make([]*entry, 0, len(f.all))
	for _, e := range f.all {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// Stop ends a crawl; if it has ended, nothing happens. It returns before the crawl has. Errors:
// ErrUnknown, those of the system.
func (f *Folder) Stop(name string) (Crawl, error) {
	return f.change(name, func(e *entry) error {
		if e.State.Ended() {
			return nil
		}
		if e.Stopping = true; e.State == Queued {
			e.State, e.Ended = Stopped, time.Now()
		}
		return nil
	})
}

// Resume has a crawl that has ended go on. Errors: OverLimit, those of Stop.
func (f *Folder) Resume(name string) (Crawl, error) {
	return f.change(name, func(e *entry) error {
		if !e.State.Ended() {
			return nil
		}
		if err := admit(e.By, f.o.Limits(e.By), f.all); err != nil {
			return err
		}
		e.queue()
		return nil
	})
}

// Retry has a crawl that has ended ask again for what has failed. Errors: ErrRuns, those of Resume.
func (f *Folder) Retry(name string, r Retry) (Crawl, error) {
	return f.change(name, func(e *entry) error {
		if !e.State.Ended() {
			return ErrRuns
		}
		if err := admit(e.By, f.o.Limits(e.By), f.all); err != nil {
			return err
		}
		e.Retry = &r
		e.queue()
		return nil
	})
}

// Delete ends a crawl and removes its files. It returns before that is done, but not before it is
// certain. Errors as those of Stop.
func (f *Folder) Delete(name string) error {
	_, err := f.change(name, func(e *entry) error {
		e.Stopping, e.Deleting = true, true
		return nil
	})
	return err
}

// SetSchedule gives a crawl another schedule; nil: none. Errors: those of the rule, ErrOwn, those
// of Stop.
func (f *Folder) SetSchedule(name string, r *schedule.Rule) (Crawl, error) {
	return f.change(name, func(e *entry) error {
		if e.Own {
			return ErrOwn
		}
		return e.follow(r, f.now())
	})
}

// change changes what is known of a crawl, durably, or not at all if there is an error.
func (f *Folder) change(name string, to func(*entry) error) (Crawl, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.all[name]
	if e == nil || e.Deleting {
		return Crawl{}, ErrUnknown
	}
	before, table := e.Crawl, e.table
	if err := to(e); err != nil {
		e.Crawl, e.table = before, table
		return e.Crawl, err
	}
	if equal(before, e.Crawl) {
		return e.Crawl, nil
	}
	if err := f.save(&e.Crawl); err != nil {
		e.Crawl, e.table = before, table
		return Crawl{}, err
	}
	f.changed(e.Crawl)
	f.awake()
	return e.Crawl, nil
}

// equal reports whether what may change of a crawl is the same.
func equal(a, b Crawl) bool {
	return a.State == b.State && a.Stopping == b.Stopping && a.Deleting == b.Deleting && a.Crashes == b.Crashes && a.Schedule == b.Schedule
}

func (f *Folder) awake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Close gives the folder up. Crawls that run go on.
func (f *Folder) Close() error {
	f.end()
	f.beside.Wait()
	return unlock(f.lock)
}
