package footprint_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
)

const mebi = 1 << 20

// meters are those of a crawl.
type meters struct{ bodies, outcomes *budget.Meter }

// metered is weft.New for a crawl on a disk, with its meters.
func metered(t *testing.T, o weft.Options, disk store.FS) (*crawl.Crawl, *meters) {
	t.Helper()
	cfg, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Job.Files = disk
	c, err := crawl.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := new(meters)
	m.bodies, m.outcomes = c.Engine.Meters()
	return c, m
}

// writer writes to a connection from a task.
type writer struct {
	task *aio.Task
	conn aio.Conn
}

func (w writer) Write(b []byte) (int, error) { return w.conn.Write(w.task, b) }

// bodies crawls hosts on the virtual clock; send writes the response of each. It returns the
// records, the peak memory of bodies in bytes, and the meters.
func bodies(t *testing.T, hosts int, o weft.Options, send func(task *aio.Task, c aio.Conn, request string) error) (map[string]weft.Record, int64, *meters) {
	t.Helper()
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	for i := range hosts {
		name := fmt.Sprintf("h%02d.test", i)
		netw.Host(name, fmt.Sprintf("10.0.%d.%d", i/250, i%250+1))
		o.Seeds = append(o.Seeds, "http://"+name+"/")
	}
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})
	got := make(map[string]weft.Record)
	o.Job, o.Reach.NoRobots = filepath.Join(t.TempDir(), "job"), true
	o.Hooks.OnRecord = func(r *weft.Record) { got[r.URL] = *r }
	c, m := metered(t, o, store.Disk)
	err := loop.Run(context.Background(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("servers", func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for {
						conn, err := ln.Accept(task)
						if errors.Is(err, aio.ErrClosed) {
							return nil
						}
						if err != nil {
							return err
						}
						g.Go("server", func(task *aio.Task) error {
							defer conn.Close()
							request, err := aio.NewReader(task.Loop(), conn).ReadUntil(task, []byte("\r\n\r\n"), 4096)
							if err != nil {
								return nil // a kept connection that was closed
							}
							if err := send(task, conn, string(request)); errors.Is(err, aio.ErrCanceled) {
								return err
							}
							return nil // the crawler may have hung up
						})
					}
				})
			})
			defer ln.Close()
			_, err = c.RunOn(task)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if held := m.bodies.Held(); held != 0 {
		t.Errorf("bodies hold %d bytes after the crawl", held)
	}
	return got, m.bodies.Peak(), m
}

// TestSlowBodiesKeepWithinMemory checks that hosts that all send large bodies slowly take at most
// the share of bodies plus one body. Every body arrives whole without retries, because a
// lack of memory here does not count against the host.
func TestSlowBodiesKeepWithinMemory(t *testing.T) {
	const hosts, size, piece = 8, 2 * mebi, 128 << 10
	text := bytes.Repeat([]byte("x"), piece)
	slowly := func(task *aio.Task, c aio.Conn, _ string) error {
		if _, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", size); err != nil {
			return err
		}
		for range size / piece {
			if err := task.Sleep(500 * time.Millisecond); err != nil {
				return err
			}
			if _, err := c.Write(task, text); err != nil {
				return err
			}
		}
		return nil
	}
	for _, workers := range []int{1, hosts} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			o := weft.Options{Pace: weft.Pace{Concurrency: workers, Retries: -1}, Memory: 64 * mebi, HTTP: weft.HTTP{MaxBody: size, MinRate: 100_000}}
			got, peak, c := bodies(t, hosts, o, slowly)
			for u, r := range got {
				if r.Status != 200 || r.ErrorKind != "" || r.BodyBytes != size || r.Tries > 2 {
					t.Errorf("%s: status %d, %d bytes, %d tries, error %s: %s", u, r.Status, r.BodyBytes, r.Tries, r.ErrorKind, r.Error)
				}
			}
			if len(got) != hosts {
				t.Errorf("%d records, expected %d", len(got), hosts)
			}
			if most := c.bodies.Share() + size + size/4; peak > most {
				t.Errorf("bodies held %d bytes, expected at most %d", peak, most)
			} else if workers > 1 && peak < c.bodies.Share()-size/8 { // it grows in steps
				t.Errorf("bodies held %d bytes, expected about their share, %d", peak, c.bodies.Share())
			}
		})
	}
}

// TestStalledBodiesEnd checks that bodies that fill the memory and then stall are cut off: early
// while others wait for memory, otherwise by their time limits. The waiting bodies then continue.
func TestStalledBodiesEnd(t *testing.T) {
	const hosts = 16
	send := func(task *aio.Task, c aio.Conn, request string) error {
		size, sent := 2*mebi, 2*mebi
		if odd := regexp.MustCompile(`Host: h\d[13579]`); odd.MatchString(request) {
			sent -= 1000
		}
		_, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", sent))
		if err == nil && sent < size {
			err = task.Sleep(time.Hour)
		}
		return err
	}
	got, peak, c := bodies(t, hosts, weft.Options{Memory: 64 * mebi, Pace: weft.Pace{Retries: -1}}, send)
	kinds := make(map[string]int)
	for _, r := range got {
		kinds[r.ErrorKind]++
	}
	if slow := kinds["too-slow"]; kinds[""] != hosts/2 || slow == 0 || slow+kinds["idle-timeout"] != hosts/2 {
		t.Errorf("records by error kind: %v, expected half of %d without an error, and the others too slow or idle", kinds, hosts)
	}
	if most := c.bodies.Share() + 5*mebi; peak > most {
		t.Errorf("bodies held %d bytes, expected at most %d", peak, most)
	}
}

// TestStalledBodiesDelayNoOthers checks that small pages of other hosts are fetched while stalled
// bodies fill the memory, and that the stalled fetches end after their tries, with default limits.
func TestStalledBodiesDelayNoOthers(t *testing.T) {
	const stalling, hosts, size = 24, 124, 2 * mebi
	text := strings.Repeat("x", size)
	isStalling := regexp.MustCompile(`\bh(0\d|1\d|2[0-3])\.test`)
	send := func(task *aio.Task, c aio.Conn, request string) error {
		if !isStalling.MatchString(request) {
			_, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20000\r\n\r\n%s", text[:20_000])
			return err
		}
		_, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", size, text[:size-1000])
		if err == nil {
			err = task.Sleep(time.Hour)
		}
		return err
	}
	for name, o := range map[string]weft.Options{"more workers": {Pace: weft.Pace{Concurrency: 2 * stalling, Retries: 1}}, "as many workers": {Pace: weft.Pace{Concurrency: stalling, Retries: -1}}} {
		t.Run(name, func(t *testing.T) {
			o.Memory = 64 * mebi
			got, peak, c := bodies(t, hosts, o, send)
			var began, quick, last time.Time
			left := 0 // the last stalled ones, whose memory no other fetch waits for
			for _, r := range got {
				if began.IsZero() || r.Started.Before(began) {
					began = r.Started
				}
			}
			for u, r := range got {
				if end := r.Started.Add(time.Duration(r.TotalMS * 1e6)); !isStalling.MatchString(u) {
					if r.Status != 200 || r.ErrorKind != "" || r.Tries != 1 {
						t.Errorf("%s: status %d, %d tries, error %s: %s", u, r.Status, r.Tries, r.ErrorKind, r.Error)
					}
					quick = latest(quick, end)
				} else {
					if idle := r.ErrorKind == "idle-timeout"; idle && left == 3 || !idle && r.ErrorKind != "too-slow" || r.Tries < max(0, o.Pace.Retries)+1 || r.Tries > max(0, o.Pace.Retries)+6 {
						// Some have waited for memory.
						t.Errorf("%s: %d tries, error %s: %s; expected too-slow", u, r.Tries, r.ErrorKind, r.Error)
					} else if idle {
						left++
					}
					last = latest(last, end)
				}
			}
			t.Logf("small pages were done after %v, the last stalled page after %v", quick.Sub(began), last.Sub(began))
			if len(got) != hosts || quick.Sub(began) > 5*time.Second {
				t.Errorf("%d records; small pages were done after %v, expected all within 5 s", len(got), quick.Sub(began))
			}
			if most := c.bodies.Share() + size + size/4; peak > most {
				t.Errorf("bodies held %d bytes, expected at most %d", peak, most)
			}
		})
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TestBombsKeepWithinMemory checks that bodies that are small compressed and large decompressed are
// decompressed one after the other when memory does not suffice for all.
func TestBombsKeepWithinMemory(t *testing.T) {
	const hosts, size = 8, 4 * mebi
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("x"), size-1))
	_ = z.Close()
	send := func(task *aio.Task, c aio.Conn, _ string) error {
		_, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", zipped.Len(), zipped.Bytes())
		return err
	}
	o := weft.Options{Memory: 64 * mebi, HTTP: weft.HTTP{MaxBody: size}, Hooks: weft.Hooks{OnPage: func(context.Context, *weft.Page) error { return nil }}}
	got, peak, c := bodies(t, hosts, o, send)
	for u, r := range got {
		if r.BodyBytes != size-1 {
			t.Errorf("%s: %d bytes, error %s: %s", u, r.BodyBytes, r.ErrorKind, r.Error)
		}
	}
	if most := c.bodies.Share() + 3*size; peak > most {
		t.Errorf("bodies held %d bytes, expected at most %d", peak, most)
	}
}

// TestTextKeepsWithinMemory checks that bodies whose text is three times as long are decoded one
// after the other when memory does not suffice for all, however many loops there are.
func TestTextKeepsWithinMemory(t *testing.T) {
	const hosts, size, loops = 8, mebi, 8
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("\xa1\xd2\xc3 "), size/4-1))
	_ = z.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=windows-874") // which is quick to read
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(zipped.Bytes())
	}))
	defer s.Close()
	o := weft.Options{Memory: 64 * mebi, HTTP: weft.HTTP{MaxBody: size}, Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{PerHost: hosts}, Loops: loops, Keep: weft.Keep{Duplicates: weft.DuplicatesOff}}
	o.Hooks.OnRecord = func(r *weft.Record) {
		if r.ErrorKind != "" || r.BodyBytes != size-4 || r.Charset != "windows-874" {
			t.Errorf("%s: %d bytes in %s, error %s: %s", r.URL, r.BodyBytes, r.Charset, r.ErrorKind, r.Error)
		}
	}
	for i := range hosts {
		o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", s.URL, i))
	}
	c, m := metered(t, o, store.Disk)
	if sum, err := c.Run(t.Context()); err != nil || sum.Recorded() != hosts {
		t.Fatalf("%d records, error %v", sum.Recorded(), err)
	}
	const page = size + 5*size/2 // in UTF-8
	if peak, most := m.bodies.Peak(), m.bodies.Share()+page+mebi; peak < page || peak > most || m.bodies.Held() != 0 {
		t.Errorf("bodies held %d bytes, expected at least %d and at most %d; %d at the end", peak, page, most, m.bodies.Held())
	}
}

// TestMemoryOptions checks that options that cannot fit in memory are refused with the reason.
func TestMemoryOptions(t *testing.T) {
	for _, c := range []struct {
		name, says string
		o          weft.Options
	}{
		{"too little", `expected at least 64 MB`, weft.Options{Memory: mebi}},
		{"negative", `expected`, weft.Options{Memory: -1}},
		{"too many requests", `expected at most 682 within 64 MiB of memory`, weft.Options{Memory: 64 * mebi, Pace: weft.Pace{Concurrency: 700}}},
		{"a body that is too large", `expected at most 21 MiB within 64 MiB of memory`, weft.Options{Memory: 64 * mebi, HTTP: weft.HTTP{MaxBody: 22 * mebi}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Seeds = []string{"http://a.test/"}
			var wrong *weft.OptionError
			if _, err := weft.New(c.o); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("New: %v, expected an OptionError that contains %q", err, c.says)
			}
		})
	}
}

// TestHeldUntilSaved checks that the links found on a page count as body memory until they are
// committed, even if they exceed the share of bodies, and no longer, even if the commit fails.
func TestHeldUntilSaved(t *testing.T) {
	const fails = "fails"
	for name, c := range map[string]struct {
		links int
		to    string // target of the links, without their number
		keep  bool   // write links.jsonl
		pages int
		least int64 // bytes held during the commit
	}{
		"few links":           {400, "/", false, 1, 0},
		"new links":           {3000, "/", false, 1, 3000 * 200},
		"links that are kept": {3000, "http://elsewhere.test/", true, 1, 3000 * 90},
		"more than the share": {4000, "/" + strings.Repeat("x", 1000), false, 3, 8 * mebi},
		"the commit " + fails: {3000, "/", false, 1, 3000 * 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				if strings.HasPrefix(r.URL.Path, "/page") {
					for i := range c.links {
						fmt.Fprintf(w, "<a href=%s%s-%d>", c.to, r.URL.Path[1:], i)
					}
				}
			}))
			defer s.Close()
			disk := storetest.New()
			var running atomic.Pointer[budget.Meter] // of bodies, set after New, which syncs too
			var most atomic.Int64
			disk.Before(func(op storetest.Op, path string) error {
				if bodies := running.Load(); bodies != nil && op == storetest.Sync && strings.HasSuffix(path, "pages.jsonl") {
					if now := bodies.Held(); now > most.Load() {
						most.Store(now)
					}
					if strings.HasSuffix(name, fails) && most.Load() > 0 {
						return syscall.EIO
					}
				}
				return nil
			})
			o := weft.Options{Job: "/job", Keep: weft.Keep{KeepLinks: c.keep}, Memory: 64 * mebi, Limits: weft.Limits{Limit: c.pages}, Reach: weft.Reach{NoRobots: true}}
			for i := range c.pages {
				o.Seeds = append(o.Seeds, fmt.Sprintf("%s/page%d", s.URL, i))
			}
			crawl, m := metered(t, o, disk)
			running.Store(m.bodies)
			sum, err := crawl.Run(t.Context())
			if failed := err != nil; failed != strings.HasSuffix(name, fails) || !failed && sum.Recorded() != c.pages {
				t.Errorf("%d URLs done, error %v", sum.Recorded(), err)
			}
			if c.least == 0 && most.Load() > 0 || most.Load() < c.least {
				t.Errorf("%d bytes held during a commit, expected at least %d, or none if that is 0", most.Load(), c.least)
			}
			bodies := m.bodies.Held()
			if outcomes := m.outcomes.Held(); bodies != 0 || outcomes != 0 {
				t.Errorf("after the crawl, bodies hold %d bytes and outcomes %d", bodies, outcomes)
			}
		})
	}
}

// TestOneBigOutcomeAfterTheOther checks that short pages whose <base> turns their links into
// megabytes, and that arrive all at once, are read only as fast as their outcomes are committed.
func TestOneBigOutcomeAfterTheOther(t *testing.T) {
	const hosts, pages = 8, 4000
	send := func(task *aio.Task, c aio.Conn, request string) error {
		path := strings.Fields(request)[1]
		if path != "/" {
			_, err := fmt.Fprint(writer{task, c}, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
			return err
		}
		var page strings.Builder
		fmt.Fprintf(&page, "<base href=/%s/>", strings.Repeat("x", 1900))
		for i := range pages {
			fmt.Fprintf(&page, "<a href=%d>", i)
		}
		page.WriteString(strings.Repeat(" ", 500<<10)) // or it had too much text in links for its size
		_, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", page.Len(), page.String())
		return err
	}
	got, _, c := bodies(t, hosts, weft.Options{Pace: weft.Pace{Concurrency: hosts}, Memory: 64 * mebi, HTTP: weft.HTTP{MaxBody: mebi}, Limits: weft.Limits{Limit: hosts, LimitPerHost: 1}}, send)
	for u, r := range got {
		if r.Status != 200 || r.NewLinks != pages && r.NewLinks != 0 {
			t.Errorf("%s: status %d, %d new links", u, r.Status, r.NewLinks)
		}
	}
	const one = pages * (1900 + 300)
	peak := c.outcomes.Peak()
	if most := c.bodies.Share()/2 + 2*one; len(got) != hosts || peak < one/2 || peak > most {
		t.Errorf("%d pages, outcomes held %d bytes, expected at most %d", len(got), peak, most)
	}
}

// TestLinksOfPagesCount checks that the links passed to OnPage count as memory, though the crawl
// follows none of them.
func TestLinksOfPagesCount(t *testing.T) {
	const hosts, each = 6, 4000
	for _, status := range []int{200, 404} {
		send := func(task *aio.Task, c aio.Conn, _ string) error {
			page := fmt.Sprintf("<base href=http://elsewhere.test/%s/>", strings.Repeat("x", 1900)) + strings.Repeat("<a href=a>", each) + strings.Repeat(" ", 500<<10)
			_, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 %d OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", status, len(page), page)
			return err
		}
		onPage := func(_ context.Context, p *weft.Page) error {
			if len(p.Links) != each {
				t.Errorf("%d links, expected %d", len(p.Links), each)
			}
			return nil
		}
		got, _, c := bodies(t, hosts, weft.Options{Pace: weft.Pace{Concurrency: hosts}, Memory: 64 * mebi, HTTP: weft.HTTP{MaxBody: mebi}, Hooks: weft.Hooks{OnPage: onPage}}, send)
		const one = each * (1900 + 300)
		peak, held := c.outcomes.Peak(), c.outcomes.Held()
		if most := c.bodies.Share()/2 + 2*one; len(got) != hosts || peak < each*1900 || peak > most || held != 0 {
			t.Errorf("%d pages, outcomes held %d bytes at once and %d at the end; expected at least one page, at most %d bytes, and none at the end", len(got), peak, held, most)
		}
	}
}

// TestCrowdedFetchesAreTries checks that a response that waits in vain for memory is requested
// again a few times only, even without retries, and that its record counts all requests.
func TestCrowdedFetchesAreTries(t *testing.T) {
	const hosts, size = 12, 4 * mebi
	asked := make(map[string]int)
	host := regexp.MustCompile(`Host: (\S+)`)
	send := func(task *aio.Task, c aio.Conn, request string) error {
		asked["http://"+host.FindStringSubmatch(request)[1]+"/"]++
		_, err := fmt.Fprintf(writer{task, c}, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", size)
		for range 25 {
			if err == nil {
				err = task.Sleep(time.Second)
			}
			if err == nil {
				_, err = c.Write(task, bytes.Repeat([]byte("x"), size/25+1))
			}
		}
		return err
	}
	got, _, _ := bodies(t, hosts, weft.Options{Pace: weft.Pace{Concurrency: hosts, Retries: -1}, Memory: 64 * mebi, HTTP: weft.HTTP{MaxBody: size + mebi}}, send)
	again := 0
	for u, r := range got {
		if r.Tries != asked[u] || r.Tries > 6 {
			t.Errorf("%s: %d tries, requested %d times, %s: %s", u, r.Tries, asked[u], r.ErrorKind, r.Error)
		}
		again += r.Tries - 1
	}
	if again == 0 || len(got) != hosts {
		t.Errorf("%d records, %d URLs requested again, expected some", len(got), again)
	}
}
