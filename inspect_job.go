package weft

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/internal/ctl"
)

// ErrNotRunning is returned when a job is told to do something, and its crawl does not run.
var ErrNotRunning = errors.New("no crawl is running, expected one to be")

// Job is a job to look at, and, while its crawl runs, to steer. Then it is the crawl that
// answers, over a socket in the job's folder; it may be of another process. Otherwise what
// is saved is read, and until Close no crawl can go on with the job.
//
// Any goroutine may use it.
type Job struct {
	client *ctl.Client // nil: no crawl runs
	view   *view       // nil: one does
}

// lockedFor is how long OpenJob waits for a crawl that begins or ends, or for another look
// at the job, to let go of it.
const lockedFor = 3 * time.Second

// OpenJob opens the job in a folder. Errors: fs.ErrNotExist if there is none; those of
// package store, such as store.ErrDamaged, and store.ErrLocked if another process has the
// job open and does not answer.
func OpenJob(ctx context.Context, dir string) (*Job, error) {
	late := time.After(lockedFor)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		client, err := ctl.Dial(ctx, dir)
		if err == nil {
			return &Job{client: client}, nil
		}
		if !errors.Is(err, ctl.ErrNobody) {
			return nil, err
		}
		s, err := store.Open(dir, store.Options{ReadOnly: true})
		if err == nil {
			return &Job{view: &view{job: &job{dir: dir, files: store.Disk, store: s}}}, nil
		}
		if !errors.Is(err, store.ErrLocked) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late:
			return nil, err
		case <-tick.C:
		}
	}
}

// Close lets go of the job.
func (j *Job) Close() error {
	if j.view == nil {
		return nil
	}
	return j.view.job.close()
}

// Running reports whether its crawl runs, or did when the job was opened.
func (j *Job) Running() bool { return j.client != nil }

// Status returns where the job is. Errors of this and the others: those of OpenJob; ctl's
// if the crawl has ended since.
func (j *Job) Status(ctx context.Context) (Status, error) {
	if j.client != nil {
		return theOne(ctl.Ask[Status](ctx, j.client, commandStatus))
	}
	return j.view.status(ctx)
}

// Hosts yields the hosts, by name.
func (j *Job) Hosts(ctx context.Context) iter.Seq2[HostStatus, error] {
	if j.client != nil {
		return ctl.Ask[HostStatus](ctx, j.client, commandHosts)
	}
	return j.view.hosts(ctx)
}

// URLs yields the URLs in a state. Those that are pending come by host, and of each in
// the order of its queue; others by URL.
func (j *Job) URLs(ctx context.Context, state URLState) iter.Seq2[URLStatus, error] {
	if j.client != nil {
		return ctl.Ask[URLStatus](ctx, j.client, commandURLs, string(state))
	}
	return j.view.urls(ctx, state)
}

// Why tells what has become of a URL, and why. Errors: those of ParseSeed, too.
func (j *Job) Why(ctx context.Context, url string) (Why, error) {
	if j.client != nil {
		return theOne(ctl.Ask[Why](ctx, j.client, commandWhy, url))
	}
	return j.view.why(ctx, url)
}

// Do has the crawl carry out an order, and returns what has come of it, in lines of text.
func (j *Job) Do(ctx context.Context, o Order) ([]string, error) {
	if j.client == nil {
		return nil, ErrNotRunning
	}
	var said []string
	for line, err := range ctl.Ask[string](ctx, j.client, commandDo, o.words...) {
		if err != nil {
			return said, err
		}
		said = append(said, line)
	}
	return said, nil
}

// Tasks returns the tasks of all loops of the crawl.
func (j *Job) Tasks(ctx context.Context) ([]TaskStatus, error) {
	if j.client == nil {
		return nil, ErrNotRunning
	}
	var tasks []TaskStatus
	for t, err := range ctl.Ask[TaskStatus](ctx, j.client, commandTasks) {
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// theOne is the value of an answer that has one.
func theOne[T any](answer iter.Seq2[T, error]) (T, error) {
	for value, err := range answer {
		return value, err
	}
	var none T
	return none, errors.New("the crawl has answered nothing, expected a value")
}
