package weft_test

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/tuning"
)

// TestBareSeedsBeyondMemory checks that seeds without a scheme whose hosts answer by http only are
// fetched by http where everything that was seen is looked up on disk first, and that a promise of
// such a fetch that a crash has left is kept by the next run.
func TestBareSeedsBeyondMemory(t *testing.T) {
	const hosts = 30
	s := leafy(t, 0)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, closed, _ := net.SplitHostPort(ln.Addr().String())
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	names := func(yield func(string, error) bool) {
		for i := range hosts {
			if !yield(fmt.Sprintf("h%02d.test", i), nil) {
				return
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "job")
	o := weft.Options{
		SeedSeq: names, Job: dir, Scope: weft.ScopePage, AllowPrivate: true, PerAddress: 16,
		Resolve: overrides(t, "*:80:127.0.0.1:"+port, "*:443:127.0.0.1:"+closed),
		Tuning:  &tuning.Options{Heads: 2, SeenBytes: 1, HostBytes: 1},
	}
	run := func() weft.Summary {
		t.Helper()
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	sum, all := run(), records(t, dir)
	for i := range hosts {
		secure, plain := all[fmt.Sprintf("https://h%02d.test/", i)], all[fmt.Sprintf("http://h%02d.test/", i)]
		if secure.ErrorKind != "connect" || plain.Status != 200 || plain.From != secure.URL || plain.Depth != 0 {
			t.Errorf("%+v, %+v", secure, plain)
		}
	}
	if !sum.Finished || sum.SeedsFetched != hosts || len(all) != 2*hosts {
		t.Errorf("%d records, %+v", len(all), sum)
	}

	s2, err := store.Open(dir, store.Options{Outputs: []string{"pages.jsonl"}})
	if err != nil {
		t.Fatal(err)
	}
	if left := slices.Collect(notesOf(s2, "promise/")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	b := s2.Begin()
	b.Set("promise/http://late.test/", []byte("https://late.test/"))
	if err := s2.Commit(b); err != nil {
		t.Fatal(err)
	}
	if err := s2.Close(); err != nil {
		t.Fatal(err)
	}
	run()
	if late := records(t, dir)["http://late.test/"]; late.Status != 200 || late.From != "https://late.test/" {
		t.Errorf("promised: %+v", late)
	}
}

// notesOf yields the names of the notes in a store.
func notesOf(s *store.Store, prefix string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for n, err := range s.Notes(prefix) {
			if err != nil || !yield(n.Name) {
				return
			}
		}
	}
}

// TestAddBareSeed: a seed without a scheme that is added while the crawl runs is fetched by http where
// https does not answer, and stays a guess in the plan.
func TestAddBareSeed(t *testing.T) {
	s := newHeld(t)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	r := start(t, weft.Options{
		Seeds: []string{s.URL + "/held"}, Job: filepath.Join(t.TempDir(), "job"), AllowPrivate: true, Retries: -1,
		Resolve: overrides(t, "*:80:127.0.0.1:"+port, "*:443:"+closed), Scope: weft.ScopePage,
	})
	r.inspect()
	r.await("held", func(now weft.Status) bool { return now.InFlight == 1 })
	if got := r.do("add", "b.test/a"); !slices.Equal(got, []string{"added: https://b.test/a"}) {
		t.Errorf("%q", got)
	}
	r.await("by http", func(now weft.Status) bool { return now.Statuses[200] == 1 })
	s.release()
	<-r.done
	if got := records(t, r.dir)["http://b.test/a"]; got.Status != 200 || got.From != "https://b.test/a" {
		t.Errorf("%+v", got)
	}
	job := open(t, r.dir)
	if why, err := job.Why(t.Context(), "b.test/a"); err != nil || why.URL != "http://b.test/a" {
		t.Errorf("%+v, %v", why, err)
	}
}

// silentTLS is a network where port 443 never answers.
type silentTLS struct{ *aiotest.Net }

func (n silentTLS) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	if strings.HasSuffix(to.String(), ":443") {
		return nil, cmp.Or(task.Sleep(time.Hour), error(syscall.ETIMEDOUT))
	}
	return n.Net.Connect(task, to)
}

// TestBareSilent: where https stays silent, a seed without a scheme is by http after 3 s, whether
// robots.txt is read or not; a seed with one is waited for.
func TestBareSilent(t *testing.T) {
	for seed, c := range map[string]struct {
		status int // of the page by http
		most   time.Duration
	}{"a.test": {200, 4 * time.Second}, "https://a.test/": {0, 11 * time.Second}} {
		for _, noRobots := range []bool{false, true} {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
			n.Host("a.test", "10.0.0.1")
			o := weft.Options{Seeds: []string{seed}, NoRobots: noRobots, Retries: -1}
			all, sum, _ := web{"http://a.test/": "<p>"}.crawlOver(t, silentTLS{n}, o)
			if all["http://a.test/"].Status != c.status || sum.Elapsed > c.most || sum.Elapsed < 3*time.Second {
				t.Errorf("%s, NoRobots %t: %+v after %v", seed, noRobots, all, sum.Elapsed)
			}
		}
	}
}
