package weft

import (
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// fetcher is one fetch loop: its workers, their client, and the way to the desk.
// Owner: its loop. The desk reaches it through inbox.
type fetcher struct {
	id      int
	cfg     *config
	loop    *aio.Loop
	inbox   *aio.Handle // of this loop, held by the desk
	desk    *desk
	outbox  *aio.Handle // of the desk's loop
	workers int
	client  *http1.Client
	leases  aio.Queue[frontier.URL]
	recent  recent
	batch   []outcome // of this turn, on its way to the desk
}

// outcome answers a lease.
type outcome struct {
	url    frontier.URL
	retry  bool           // an error that may pass, and tries are left
	later  bool           // this machine was short of something: no try, and no error of the URL's
	record *Record        // if neither: its line, written by the desk
	line   []byte         // record as JSON
	links  []frontier.URL // found, not seen lately
	target *frontier.URL  // of a redirect, in scope
}

// run is the task that the fetcher's workers belong to. It ends when the desk has
// closed the queue of leases.
func (f *fetcher) run(t *aio.Task) error {
	f.client = http1.NewClient(t.Loop(), http1.Options{
		Timeout: f.cfg.Timeout, MaxBody: f.cfg.MaxBody, UserAgent: f.cfg.UserAgent,
		MaxIdle: f.workers,
	})
	defer f.client.Close()
	defer f.outbox.Close()
	return t.Group(func(g *aio.Group) error {
		for i := range f.workers {
			g.Go(fmt.Sprintf("worker %d.%d", f.id, i+1), f.work)
		}
		return nil
	})
}

func (f *fetcher) work(t *aio.Task) error {
	for {
		u, err := f.leases.Get(t)
		if err == aio.ErrQueueClosed {
			return nil
		}
		if err != nil {
			return err
		}
		out, err := f.fetch(t, u)
		if err != nil {
			return err
		}
		f.send(out)
	}
}

// send puts an outcome into the batch that goes to the desk when this turn's tasks
// have run.
func (f *fetcher) send(out outcome) {
	f.batch = append(f.batch, out)
	if len(f.batch) == 1 {
		f.loop.CallSoon(func() {
			batch := f.batch
			f.batch = nil
			// The desk's loop ends after its fetchers, or by an error that has
			// cancelled them: then nobody needs the batch.
			_ = f.outbox.Post(func() { f.desk.receive(f, batch) })
		})
	}
}

// fetch makes one try at a URL. An error is only that of a cancelled task.
func (f *fetcher) fetch(t *aio.Task, u frontier.URL) (outcome, error) {
	started := f.loop.Now()
	res, err := f.client.Get(t, http1.Request{Scheme: u.URL.Scheme(), Host: u.URL.Host(), Target: u.URL.RequestTarget()})
	ended := f.loop.Now()
	if err != nil {
		e := err.(*http1.Error)
		if e.Kind == http1.KindCanceled {
			return outcome{}, err
		}
		if e.Kind == http1.KindResource {
			return outcome{url: u, later: true}, nil
		}
		out := outcome{url: u, retry: e.Temporary() && u.Tries < f.cfg.Retries}
		if !out.retry {
			out.record = newRecord(u, started, ended)
			out.record.failed(err)
			out.line = out.record.line()
		}
		return out, nil
	}
	defer res.Close()
	if mayPass(res.Status) && u.Tries < f.cfg.Retries {
		return outcome{url: u, retry: true}, nil
	}
	out := outcome{url: u, record: newRecord(u, started, ended)}
	t.OnLoop(func() { f.read(&out, res) })
	return out, nil
}

// mayPass says whether a status may be another one later.
func mayPass(status int) bool {
	return status == 429 || status == 502 || status == 503 || status == 504
}

// read fills the record from an answer and finds the links in it. It runs on the
// loop's stack.
func (f *fetcher) read(out *outcome, res *http1.Response) {
	r, u := out.record, out.url
	r.Status, r.Bytes, r.BodyBytes = res.Status, res.Wire, len(res.Body)
	r.ContentType = res.Header.Get("Content-Type")
	location := res.Header.Get("Location")
	switch {
	case res.Status >= 300 && res.Status < 400 && location != "":
		f.redirect(out, location)
	case res.Status >= 200 && res.Status < 300:
		page := scope.Extract(u.URL, r.ContentType, res.Body, func(l links.Link) bool {
			if followed(l) && f.cfg.follows(l.URL) {
				r.Links++
				f.found(out, frontier.URL{URL: l.URL.Canonical(), From: r.URL, Depth: u.Depth + 1})
			}
			return true
		})
		r.Title = page.Title
	}
	out.line = r.line()
}

// scope is the elements whose links are followed.
var scope = links.Options{Tags: []string{"a", "area", "frame", "iframe", "link"}}

// followed says whether a link leads to a resource, rather than giving a hint
// about a connection.
func followed(l links.Link) bool {
	return l.Tag != "link" || !strings.EqualFold(l.Rel, "preconnect") && !strings.EqualFold(l.Rel, "dns-prefetch")
}

// redirect notes where an answer leads.
func (f *fetcher) redirect(out *outcome, location string) {
	to, err := out.url.URL.Resolve(location)
	if err != nil {
		out.record.ErrorKind, out.record.Error = "location", err.Error()
		return
	}
	out.record.Redirect = to.String()
	if f.cfg.follows(to) {
		out.target = &frontier.URL{URL: to.Canonical(), From: out.record.URL, Depth: out.url.Depth}
	}
}

func (f *fetcher) found(out *outcome, u frontier.URL) {
	if f.recent.add(u.URL) {
		out.links = append(out.links, u)
	}
}

// recent is a small memory of the URLs that a fetch loop has sent to the desk
// lately. It forgets, and never says that a URL was seen which was not.
type recent struct {
	slots []weburl.URL
}

const recentSlots = 1 << 14 // a power of two

// add reports whether u is not remembered, and remembers it.
func (r *recent) add(u weburl.URL) bool {
	if r.slots == nil {
		r.slots = make([]weburl.URL, recentSlots)
	}
	slot := &r.slots[hash(u.String())&(recentSlots-1)]
	if *slot == u {
		return false
	}
	*slot = u
	return true
}

// hash is FNV-1a, 64 bits: the same in every run, so that a crawl on a virtual
// clock is too.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
