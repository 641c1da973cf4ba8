package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/share"
)

// receiver takes deliveries in. Refuse says the status of one; 0: it is taken in.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []Event // taken in
	ids  []string
	more chan struct{}
}

func newReceiver(t *testing.T, key []byte, refuse func(n int) int) *receiver {
	r := &receiver{more: make(chan struct{}, 1000)}
	n := 0
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		id, at := q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp")
		mac := hmac.New(sha256.New, key)
		mac.Write(append([]byte(id+"."+at+"."), body...))
		signed := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)) // as Standard Webhooks says
		if err != nil || q.Header.Get("webhook-signature") != signed || q.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v, %v", err, q.Header)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		n++
		if status := refuse(n); status != 0 {
			w.Header().Set("Location", "/")
			w.WriteHeader(status)
			return
		}
		var e Event
		if err := json.Unmarshal(body, &e); err != nil {
			t.Error(err)
		}
		if len(r.ids) == 0 || r.ids[len(r.ids)-1] != id { // else a kill came before the cursor was saved
			r.got, r.ids = append(r.got, e), append(r.ids, id)
		}
		r.more <- struct{}{}
	}))
	t.Cleanup(r.Close)
	return r
}

// types are those of the events, with the number of pages.
func (r *receiver) types() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, e := range r.got {
		all = append(all, fmt.Sprintf("%s %s %d", e.Type, e.Data.State, len(e.Data.Pages)))
	}
	return strings.Join(all, ", ")
}

// takes waits for n events in all.
func (r *receiver) takes(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		r.mu.Lock()
		has := len(r.got)
		r.mu.Unlock()
		if has >= n {
			return
		}
		select {
		case <-r.more:
		case <-ctx.Done():
			t.Fatalf("only %s", r.types())
		}
	}
}

func delivery(h *Hook) *Delivery {
	return &Delivery{Event: &Event{}, Hook: h, ID: "1", Crawl: &crawls.Crawl{}}
}

var key = []byte("0123456789abcdef")

// folder opens a folder whose crawls write three records and end when they are told.
func folder(t *testing.T, dir string) (f *crawls.Folder, end func()) {
	t.Helper()
	const line = `mkdir -p "$2"; for i in 1 2 3; do echo "{\"url\":\"$i\"}"; done >"$2/pages.jsonl"; until [ -e "$2.end" ]; do sleep 0.02; done`
	f, err := crawls.Open(dir, crawls.Options{Command: func(r crawls.Run) []string { return []string{"/bin/sh", "-c", line, "sh", r.Plan, r.Job} }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { f.Run(ctx) })
	all.Go(func() {
		Run(ctx, f, Options{HTTP: weft.HTTP{AllowPrivate: true}, First: time.Millisecond, Every: time.Millisecond, Most: time.Minute})
	})
	end = sync.OnceFunc(func() { cancel(); all.Wait(); f.Close() })
	t.Cleanup(end)
	return f, end
}

func asked(t *testing.T, f *crawls.Folder, h Hook) crawls.Crawl {
	t.Helper()
	h.Secret = secretPrefix + base64.StdEncoding.EncodeToString(key)
	if err := h.Check(); err != nil {
		t.Fatal(err)
	}
	file, err := h.File()
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := f.Add(crawls.Ask{Seeds: []string{"https://a.test/"}, Hook: file})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOrder: all events are delivered in order, each until it is taken in, and after a restart from
// where the last one was.
func TestOrder(t *testing.T) {
	t.Parallel()
	statuses := []int{500, 302, 0, 429, 404}
	r := newReceiver(t, key, func(n int) int {
		if n <= len(statuses) {
			return statuses[n-1]
		}
		return 0
	})
	dir := t.TempDir()
	f, end := folder(t, dir)
	c := asked(t, f, Hook{URL: r.URL, Events: Events()})
	r.takes(t, 2)
	end()
	f, end = folder(t, dir)
	write(t, f.Job(c.Name)+".end")
	r.takes(t, 3)
	if _, err := f.Await(t.Context(), c.Name, func(c *crawls.Crawl) bool { return c.State == crawls.Done }); err != nil {
		t.Fatal(err)
	}
	end()
	if got := r.types(); got != "crawl.started  0, crawl.pages  3, crawl.ended done 0" {
		t.Error(got)
	}
	if got := strings.Join(r.ids, " "); got != fmt.Sprintf("%s.1 %[1]s.2.36 %[1]s.3", c.Name) {
		t.Error(got)
	}
	if info, err := os.Stat(f.Hook(c.Name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestHeld: a delivery that there is no room for is tried again, and gives its room back.
func TestHeld(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, key, func(int) int { return 0 })
	f, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := asked(t, f, Hook{URL: r.URL, Events: []string{EventStarted}})
	held := share.NewStock(1000, 0)
	by := newRunner(f, Options{HTTP: weft.HTTP{AllowPrivate: true}, Held: held, First: time.Millisecond, Most: time.Minute})
	give, err := held.Take(t.Context(), 999)
	if err == nil {
		err = by.deliver(t.Context(), c.Name)
	}
	if got := r.types(); err != nil || got != "" || by.late[c.Name].pause == 0 {
		t.Fatalf("%s, %v", got, err)
	}
	give()
	if err := by.deliver(t.Context(), c.Name); err != nil || r.types() != "crawl.started  0" {
		t.Errorf("%s, %v", r.types(), err)
	}
	if _, err := held.Take(t.Context(), 1000); err != nil {
		t.Error("a delivery keeps its room")
	}
}

// TestMore: if a delivery is made again after a kill and has more pages by then, it has another
// name, so that nobody takes the later pages for known.
func TestMore(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, key, func(int) int { return 0 })
	f, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := asked(t, f, Hook{URL: r.URL, Events: []string{EventPages}})
	before, err := os.ReadFile(f.Hook(c.Name))
	if err == nil {
		err = os.MkdirAll(f.Job(c.Name), 0o700)
	}
	for n := 1; n <= 2 && err == nil; n++ {
		err = errors.Join(
			os.WriteFile(f.Hook(c.Name), before, 0o600), // the kill came before it was saved
			os.WriteFile(f.Job(c.Name)+"/pages.jsonl", []byte(strings.Repeat(`{"url":"1"}`+"\n", n)), 0o600),
			newRunner(f, Options{HTTP: weft.HTTP{AllowPrivate: true}}).deliver(t.Context(), c.Name),
		)
	}
	if got := r.types(); err != nil || got != "crawl.pages  1, crawl.pages  2" {
		t.Errorf("%s, %v, %v", got, r.ids, err)
	}
}

// TestPrivate: a delivery leads to no private address.
func TestPrivate(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, key, func(int) int { t.Error("it was requested"); return 0 })
	h := Hook{URL: r.URL, Secret: secretPrefix + base64.StdEncoding.EncodeToString(key)}
	if err := h.Check(); err != nil {
		t.Fatal(err)
	}
	_, err := newRunner(nil, Options{}).try(t.Context(), &own, delivery(&h))
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Error(err)
	}
}

// TestGivenUp: what is never taken in is given up, once; others are delivered meanwhile.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	tries := 0
	r := newReceiver(t, key, func(n int) int { tries = n; return 500 })
	f, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run := newRunner(f, Options{HTTP: weft.HTTP{AllowPrivate: true}, First: time.Hour, Most: time.Nanosecond})
	c := asked(t, f, Hook{URL: r.URL})
	if err := run.deliver(t.Context(), c.Name); err != nil || !run.isIdle(&c) {
		t.Errorf("%v, idle %t", err, run.isIdle(&c))
	}
	if err := run.deliver(t.Context(), c.Name); err == nil || !strings.Contains(err.Error(), "status 500") {
		t.Error(err)
	}
	// It stays so in the next process.
	run = newRunner(f, Options{HTTP: weft.HTTP{AllowPrivate: true}, First: time.Hour, Most: time.Hour})
	if err := run.deliver(t.Context(), c.Name); err != nil || !run.isIdle(&c) || tries != 2 {
		t.Errorf("%v, idle %t, %d tries", err, run.isIdle(&c), tries)
	}
}

// TestEnded: each end of a crawl is an event, once; so is each visit with changes, once it is
// compared.
func TestEnded(t *testing.T) {
	t.Parallel()
	f, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := asked(t, f, Hook{URL: "https://a.test/"})
	path := f.ChangesFile(c.Name, 2)
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(`{"kind":"new"}`+"\n"+`{"kind":"summary","new_pages":1}`+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := state{Hook: Hook{Events: []string{EventEnded, EventChanged}}}
	next := func() string {
		t.Helper()
		e, after, err := s.next(&c, f, &own)
		if err != nil {
			t.Fatal(err)
		}
		if s = after; e == nil {
			return ""
		}
		return e.Type
	}
	at := time.Now()
	for _, step := range []struct {
		name, want string
		change     func()
	}{
		{"it runs", "", func() { c.State = crawls.Running }},
		{"it ends", EventEnded, func() { c.State, c.Ended = crawls.Done, at }},
		{"once", "", func() {}},
		{"it runs again", "", func() { c.State, c.Ended = crawls.Running, time.Time{} }},
		{"it ends again", EventEnded, func() { c.State, c.Ended = crawls.Failed, at.Add(time.Hour) }},
		{"it is compared", EventChanged, func() { c.Visits.Compared = 2 }},
		{"which is told once", "", func() {}},
	} {
		step.change()
		if got := next(); got != step.want {
			t.Errorf("%s: %q, expected %q", step.name, got, step.want)
		}
	}
}

// TestCheck: a hook that cannot work is refused by name.
func TestCheck(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]Hook{
		"secret:":  {URL: "https://a.test/"},
		"scheme":   {URL: "file:///etc/passwd"},
		"expected": {URL: "https://a.test/", Events: []string{"crawl.none"}},
		"secret":   {URL: "https://a.test/", Secret: "whsec_short"},
	} {
		if err := h.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, expected %s", h, err, want)
		}
	}
	for bytes, ok := range map[int]bool{15: false, 16: true, 64: true, 65: false} {
		h := Hook{URL: "https://a.test/", Secret: secretPrefix + base64.StdEncoding.EncodeToString(make([]byte, bytes))}
		if err := h.Check(); (err == nil) != ok {
			t.Errorf("a key of %d bytes: %v", bytes, err)
		}
	}
}

// TestLongAnswer: an answer of 2xx is a delivery, whatever follows its head.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter){
		"long": func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 1<<20)) },
		"no gzip": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("x"))
		},
		"broken off": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "9")
			_, _ = w.Write([]byte("x"))
		},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		defer web.Close()
		r := newRunner(nil, Options{HTTP: weft.HTTP{AllowPrivate: true}})
		if sent, err := r.try(t.Context(), &own, delivery(&Hook{URL: web.URL})); err != nil || !sent {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPorts: no webhook leads to a port that browsers block.
func TestPorts(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://a.test/": true, "http://a.test:8080/": true, "http://a.test:25/": false, "http://a.test:22/": false, "https://a.test:6667/x": false,
	} {
		h := Hook{URL: url, Secret: secretPrefix + base64.StdEncoding.EncodeToString(key)}
		if err := h.Check(); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestPauses: a receiver that does not take a delivery in is asked ever less often.
func TestPauses(t *testing.T) {
	r := newRunner(nil, Options{First: time.Minute, Most: time.Hour})
	var pauses []string
	for range 6 {
		if err := r.later("a", errors.New("status 500")); err != nil {
			t.Fatal(err)
		}
		pauses = append(pauses, r.late["a"].pause.String())
	}
	if got := strings.Join(pauses, " "); got != "1m0s 2m0s 4m0s 8m0s 10m0s 10m0s" {
		t.Error(got)
	}
}
