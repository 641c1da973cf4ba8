package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/control"
	"github.com/weftcrawl/weft/internal/share"
)

// shared is a value that is made again after a while, for all who ask for it.
type shared[T any] struct {
	mu    sync.Mutex
	made  time.Time
	value T
	err   error
}

// get returns the value, made within a time.
func (s *shared[T]) get(within time.Duration, make func() (T, error)) (T, error) {
	return s.since(time.Now().Add(-within), make)
}

// since returns the value, made after a moment.
func (s *shared[T]) since(moment time.Time, make func() (T, error)) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made.After(moment) {
		now := time.Now()
		s.value, s.err = make()
		s.made = now
	}
	return s.value, s.err
}

// look is the job at a moment.
type look struct {
	At      time.Time    `json:"at"`
	Status  *weft.Status `json:"status,omitempty"`
	Problem string       `json:"problem,omitempty"` // the reason for no Status
	err     error
}

const (
	lookEvery   = time.Second
	mostViewers = 100
	lookTakes   = 10 * time.Second // at most
	writeTakes  = 10 * time.Second // that long a viewer may take for a look
)

// looks shows a job to all who look at it.
type looks struct {
	dir     string
	name    string // of the job; "": as it says itself
	reading *share.Room
	latest  shared[look]
	saved   saved // of latest
	places  *share.Stock

	mu      sync.Mutex
	viewers map[chan []byte]bool // each has room for one look
	running bool                 // run is
}

func newLooks(reading *share.Room, dir, name string) *looks {
	return &looks{dir: dir, name: name, reading: reading, places: share.NewStock(mostViewers, 0), viewers: make(map[chan []byte]bool)}
}

// now returns the last look, or a new one if that is of before a time.
func (l *looks) now(ctx context.Context, since time.Time) look {
	if usual := time.Now().Add(-lookEvery * 9 / 10); usual.After(since) {
		since = usual
	}
	v, _ := l.latest.since(since, func() (look, error) {
		ctx, cancel := forAll(ctx)
		defer cancel()
		s, err := l.status(ctx)
		if err != nil {
			problem := err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				problem = "there is no job yet"
			}
			return look{At: time.Now(), Problem: problem, err: err}, nil
		}
		s.Job = cmp.Or(l.name, s.Job)
		return look{At: time.Now(), Status: &s}, nil
	})
	return v
}

// saved is the status of a job whose crawl does not run, as long as its files are as they were.
type saved struct {
	status weft.Status
	files  string
}

// status returns where the job stands.
func (l *looks) status(ctx context.Context) (weft.Status, error) {
	crawl, err := control.Dial(ctx, l.dir)
	if err == nil {
		return crawl.Status(ctx)
	}
	if !errors.Is(err, control.ErrNobody) {
		return weft.Status{}, err
	}
	if files := l.files(); files != "" && files == l.saved.files {
		return l.saved.status, nil
	}
	leave, err := l.reading.Enter(ctx)
	if err != nil {
		return weft.Status{}, err
	}
	defer leave()
	job, err := weft.OpenJob(ctx, l.dir)
	if err != nil {
		return weft.Status{}, err
	}
	running := job.Running()
	s, err := job.Status(ctx)
	if err = errors.Join(err, job.Close()); err == nil && !running {
		l.saved = saved{s, l.files()}
	}
	return s, err
}

// files tells the state of a job from another: a crawl changes each of these.
func (l *looks) files() (all string) {
	for _, name := range []string{"state", "pages.jsonl"} {
		if info, err := os.Stat(filepath.Join(l.dir, name)); err == nil {
			all += fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
		}
	}
	return all
}

// serve sends looks to a viewer until he leaves.
func (l *looks) serve(w http.ResponseWriter, r *http.Request) {
	rise, err := l.places.Take(r.Context(), 1)
	if err != nil {
		fail(w, problem(http.StatusServiceUnavailable, "too many are looking already"))
		return
	}
	defer rise()
	seen := make(chan []byte, 1)
	l.join(r.Context(), seen)
	defer l.leave(seen)
	w.Header().Set("Content-Type", "text/event-stream")
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Time{}) // as serving a viewer takes as long as he likes
	for {
		select {
		case <-r.Context().Done():
			return
		case text := <-seen:
			_ = conn.SetWriteDeadline(time.Now().Add(writeTakes)) // a recorder of a test has none
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil || conn.Flush() != nil {
				return
			}
		}
	}
}

// join adds a viewer. The first one begins the looks.
func (l *looks) join(ctx context.Context, viewer chan []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.viewers[viewer] = true
	if !l.running {
		l.running = true
		go l.run(context.WithoutCancel(ctx))
	}
}

func (l *looks) leave(viewer chan []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.viewers, viewer)
}

// run looks until there is no viewer.
func (l *looks) run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for l.show(ctx) {
		<-tick.C
	}
}

// show shows a look to all viewers, and reports whether there is any. One who has not yet read the
// look before gets this one in its place.
func (l *looks) show(ctx context.Context) bool {
	text, _ := json.Marshal(l.now(ctx, time.Time{})) // it has no value without an encoding
	l.mu.Lock()
	defer l.mu.Unlock()
	for viewer := range l.viewers {
		select {
		case <-viewer:
		default:
		}
		viewer <- text
	}
	l.running = len(l.viewers) > 0
	return l.running
}
