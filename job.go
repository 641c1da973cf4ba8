package weft

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/control"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/internal/view"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// The results of a look at a job.
type (
	Status      = inspect.Status
	Outlook     = inspect.Outlook
	Figures     = inspect.Figures
	JobState    = inspect.JobState
	HostStatus  = inspect.HostStatus
	URLStatus   = inspect.URLStatus
	URLState    = inspect.URLState
	URLFilter   = inspect.URLFilter
	ListPart    = inspect.ListPart
	Waiting     = inspect.Waiting
	StatusRange = inspect.StatusRange
	Known       = inspect.Known
	Why         = inspect.Why
	Step        = inspect.Step
	Referrers   = record.Referrers
	Referrer    = record.Referrer
	TaskStatus  = record.TaskStatus
)

// States of a job.
const (
	JobStarting    = inspect.JobStarting
	JobRunning     = inspect.JobRunning
	JobPaused      = inspect.JobPaused
	JobEnding      = inspect.JobEnding
	JobFinished    = inspect.JobFinished
	JobFailed      = inspect.JobFailed
	JobStopped     = inspect.JobStopped
	JobInterrupted = inspect.JobInterrupted
	JobKilled      = inspect.JobKilled
)

// States of a URL.
const (
	URLPending = inspect.URLPending
	URLLeased  = inspect.URLLeased
	URLDone    = inspect.URLDone
	URLFailed  = inspect.URLFailed
	URLRefused = inspect.URLRefused
	URLDropped = inspect.URLDropped
	URLUnseen  = inspect.URLUnseen
)

// Order is a command for a running crawl: see [Job.Do].
type Order struct{ order control.Order }

// ErrOrder is returned when there is no such order.
var ErrOrder = control.ErrOrder

// ErrNotRunning is returned when an order needs a running crawl, and the job has none.
var ErrNotRunning = errors.New("the crawl is not running, expected a running one")

// ParseOrder reads an order, such as "set", "delay=2s": see package control.
func ParseOrder(words ...string) (Order, error) {
	o, err := control.ParseOrder(words...)
	return Order{o}, err
}

// JobName returns the usual folder of a crawl that starts at u: HOST.weft.
func JobName(u weburl.URL) string { return job.Name(u) }

// Job is a job to look at and, while its crawl runs, to steer. Then the crawl answers, over a
// socket in the job's folder; it may be another process. Otherwise the saved state is read, and
// until Close no crawl can resume the job.
//
// Any goroutine may use it.
type Job struct {
	dir    string
	client *control.Client // nil: no crawl runs
	view   *view.View      // nil: one does
}

// lockedFor is the time that OpenJob waits for another process that starts or ends a crawl of the
// job, or looks at it.
const lockedFor = 3 * time.Second

// OpenJob opens the job in a folder. Errors: fs.ErrNotExist if there is none; those of package
// store, such as store.ErrDamaged, and store.ErrLocked if another process has the job open and
// does not answer.
func OpenJob(ctx context.Context, dir string) (*Job, error) {
	late := time.After(lockedFor)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		client, err := control.Dial(ctx, dir)
		if err == nil {
			return &Job{dir: dir, client: client}, nil
		}
		if !errors.Is(err, control.ErrNobody) {
			return nil, err
		}
		saved, err := job.View(dir)
		if err == nil {
			return &Job{dir: dir, view: &view.View{Job: saved}}, nil
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
	return j.view.Job.Close()
}

// Running reports whether the job's crawl ran when the job was opened.
func (j *Job) Running() bool { return j.client != nil }

// Status returns where the job stands. Errors, of the other methods too: those of OpenJob, or that
// the crawl has ended since.
func (j *Job) Status(ctx context.Context) (Status, error) {
	if j.client != nil {
		return j.client.Status(ctx)
	}
	return j.view.Status(ctx)
}

// Figures returns the running crawl as monitoring reads it, or ErrNotRunning.
func (j *Job) Figures(ctx context.Context) (Figures, error) {
	if j.client == nil {
		return Figures{}, ErrNotRunning
	}
	return j.client.Figures(ctx)
}

// Hosts yields the hosts, by name.
func (j *Job) Hosts(ctx context.Context) iter.Seq2[HostStatus, error] {
	return list(ctx, j, func(l *view.Listing) iter.Seq2[HostStatus, error] { return l.Hosts(ctx, "") })
}

// URLs yields the URLs that a filter selects: pending ones by host, in the order of its queue, then
// others by URL. While the crawl runs, it lists them as they are when the iteration begins.
func (j *Job) URLs(ctx context.Context, f URLFilter) iter.Seq2[URLStatus, error] {
	return list(ctx, j, func(l *view.Listing) iter.Seq2[URLStatus, error] { return l.URLs(f) })
}

// SomeHosts returns a part of the hosts, by name, and the cursor of the next; "" if there is none.
func (j *Job) SomeHosts(ctx context.Context, p ListPart) (hosts []HostStatus, next string, err error) {
	err = j.listing(ctx, func(l *view.Listing) error {
		hosts, next, err = l.SomeHosts(ctx, p)
		return err
	})
	return hosts, next, err
}

// SomeURLs returns a part of the URLs that a filter selects, in the order of URLs, and the cursor
// of the next; "" if there is none. Where the time is short, there may be fewer URLs, or none.
// While the crawl runs, each part is of another moment: a URL that is fetched in between may be in
// both or in none.
func (j *Job) SomeURLs(ctx context.Context, f URLFilter, p ListPart) (urls []URLStatus, next string, err error) {
	err = j.listing(ctx, func(l *view.Listing) error {
		urls, next, err = l.SomeURLs(f, p)
		return err
	})
	return urls, next, err
}

// list yields what a listing of the job has.
func list[T any](ctx context.Context, j *Job, of func(*view.Listing) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := j.listing(ctx, func(l *view.Listing) error {
			for v, err := range of(l) {
				if !yield(v, err) {
					break
				}
			}
			return nil
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// listing calls read with a listing of the job. This process reads it, not the crawl's, from a
// snapshot of the state.
func (j *Job) listing(ctx context.Context, read func(*view.Listing) error) error {
	if j.client == nil {
		l, err := view.List(j.view.Job)
		if err != nil {
			return err
		}
		return read(l)
	}
	l, done, err := j.client.Listing(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = done() }() // everything was read
	return read(l)
}

// Why explains what has become of a URL, and why. A URL without a scheme is that by https if the
// job has it and its host answered, else that by http. Errors: those of ReadListedSeed, too.
func (j *Job) Why(ctx context.Context, url string) (Why, error) {
	s, err := seed.ReadKnown(url)
	if err != nil {
		return Why{}, err
	}
	first, err := j.why(ctx, s.URL)
	plain, guessed := s.ByHTTP()
	if err != nil || !guessed || first.State != URLUnseen && !seed.IsUnanswered(httpclient.Kind(first.ErrorKind)) {
		return first, err
	}
	if second, err := j.why(ctx, plain); err != nil || second.State != URLUnseen {
		return second, err
	}
	return first, nil
}

// mostReferrers is the number of pages that link to a URL and that Why has.
const mostReferrers = 1000

func (j *Job) why(ctx context.Context, u weburl.URL) (why Why, err error) {
	if j.client != nil {
		why, err = j.client.Why(ctx, u.String())
	} else {
		why, err = j.view.Why(ctx, u)
	}
	if err != nil {
		return Why{}, err
	}
	if u, err = weburl.Parse(why.URL); err != nil {
		return Why{}, err
	}
	to, err := j.Referrers([]weburl.URL{u}, mostReferrers)
	if err == nil {
		why.Referrers = to[0]
	}
	return why, err
}

// Referrers returns, for each of the URLs, the pages that link to it or redirect there: most of
// them at most, and how many there are. A crawl that runs adds its pages as it saves them. A job
// that an earlier version of Weft began has none of its pages.
func (j *Job) Referrers(urls []weburl.URL, most int) ([]Referrers, error) {
	return refs.Of(j.dir, urls, most)
}

// Do has the crawl carry out an order, and returns what came of it, in lines of text.
func (j *Job) Do(ctx context.Context, o Order) ([]string, error) {
	if j.client == nil {
		return nil, ErrNotRunning
	}
	return j.client.Do(ctx, o.order)
}

// Tasks returns the tasks of all loops of the crawl.
func (j *Job) Tasks(ctx context.Context) ([]TaskStatus, error) {
	if j.client == nil {
		return nil, ErrNotRunning
	}
	return j.client.Tasks(ctx)
}
