package lab

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestMain(m *testing.M) {
	Child()
	// Under the race detector a child would otherwise take a second to end.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// patience bounds operations that should take far less.
const patience = 30 * time.Second

// eachWay runs a test of each way, and checks that it leaves no goroutine, descriptor or child.
func eachWay(t *testing.T, test func(t *testing.T, ctx context.Context, way Way)) {
	for _, way := range Ways {
		t.Run(way.Name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			test(t, ctx, way)
			if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != unix.ECHILD {
				t.Errorf("a child is left: wait4: %v, expected ECHILD", err)
			}
		})
	}
}

// serve starts a server for the test.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// outcome describes a page: the status, the redirect target, the body, and "broken" if there is an
// error.
func outcome(p Page) string {
	words := []string{strconv.Itoa(p.Status)}
	if location := p.field("Location"); location != "" {
		words = append(words, "to "+location)
	}
	if body := string(p.Body); strings.Trim(body, "x") == "" && body != "" {
		words = append(words, fmt.Sprintf("%d times x", len(body)))
	} else if body != "" {
		words = append(words, body)
	}
	if p.Err != nil {
		words = append(words, "broken")
	}
	return strings.Join(words, " ")
}

// site is a small site with everything that a crawl meets. It counts the requests per path.
func site(t *testing.T) (s *httptest.Server, asked func() map[string]int) {
	pages := map[string]string{
		"/":      rootPage,
		"/a":     "<a href=/> <a href=sub/../a> <a href=a>",
		"/sub/b": "<a href=c> <a href=../a>",
		"/sub/c": "the end",
		"/empty": "",
		"/big":   strings.Repeat("x", 1<<20),
	}
	redirects := map[string]string{"/moved": "sub/b?q=1&r", "/away": "http://elsewhere.invalid/", "/ring1": "/ring2", "/ring2": "ring1"}
	var mu sync.Mutex
	counts := make(map[string]int)
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		counts[r.URL.Path]++
		mu.Unlock()
		if r.UserAgent() != userAgent {
			t.Errorf("requested %s as %q, expected %q", r.URL.Path, r.UserAgent(), userAgent)
		}
		w.Header().Set("Content-Type", "text/html")
		if location, ok := redirects[r.URL.Path]; ok {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
			return
		}
		switch body, ok := pages[r.URL.Path]; {
		case ok:
			_, _ = w.Write([]byte(body))
		case r.URL.Path == "/early":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("not a hundred"))
		case r.URL.Path == "/dropped":
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<a href=never-followed>"))
		}
	})
	return s, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(counts)
	}
}

const rootPage = `<a href=a> <a href=a#part> <a href="sub/b?q=1&amp;r"> <a href=http://elsewhere.invalid/>
	<a href=moved> <a href=away> <a href=ring1> <a href=missing>
	<a href=early> <a href=empty> <a href=big> <a href=dropped>`

// outcomes are the outcomes of all pages of the site.
var outcomes = []struct{ path, want string }{
	{"/", "200 " + rootPage},
	{"/a", "200 <a href=/> <a href=sub/../a> <a href=a>"},
	{"/sub/b?q=1&r", "200 <a href=c> <a href=../a>"},
	{"/sub/c", "200 the end"},
	{"/moved", "302 to sub/b?q=1&r"},
	{"/away", "302 to http://elsewhere.invalid/"},
	{"/ring1", "302 to /ring2"},
	{"/ring2", "302 to ring1"},
	{"/missing", "404 <a href=never-followed>"},
	{"/early", "200 not a hundred broken"},
	{"/empty", "200"},
	{"/big", "200 1048576 times x"},
	{"/dropped", "0 broken"},
}

func TestFetchIsTheSame(t *testing.T) {
	eachWay(t, func(t *testing.T, ctx context.Context, way Way) {
		s, _ := site(t)
		var urls, want []string
		add := func(u, outcome string) {
			urls = append(urls, u)
			want = append(want, outcome)
		}
		for _, o := range outcomes {
			add(s.URL+o.path, o.want)
		}
		add(s.URL+"/sub/c", "200 the end") // twice, as requested
		add(strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+"/sub/c#part", "200 the end")
		add("http://"+refused(t)+"/", "0 broken")
		add("ftp://127.0.0.1/", "0 broken")
		add("http://127.0.0.1:99999/", "0 broken")
		if six, err := net.Listen("tcp6", "[::1]:0"); err != nil {
			t.Log("not tested over IPv6: ", err)
		} else {
			s6 := &httptest.Server{Listener: six, Config: &http.Server{Handler: s.Config.Handler}}
			s6.Start()
			defer s6.Close()
			add(s6.URL+"/sub/c", "200 the end")
		}
		for _, atOnce := range []int{1, 4, 100} {
			if way.Name == Processes.Name && atOnce > 4 {
				continue // the machine is busy
			}
			pages, err := way.Fetch(ctx, urls, atOnce)
			if err != nil || len(pages) != len(urls) {
				t.Fatalf("%d pages, %v; expected %d", len(pages), err, len(urls))
			}
			for i, p := range pages {
				if p.URL != urls[i] {
					t.Errorf("page %d is %s, expected %s", i, p.URL, urls[i])
				}
				if got := outcome(p); got != want[i] {
					t.Errorf("%s: %s (%v), expected %s", p.URL, got, p.Err, want[i])
				}
			}
		}
	})
}

// refused returns an address where connections are refused and nobody else can listen.
func refused(t *testing.T) string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", name.(*unix.SockaddrInet4).Port)
}

func TestCrawlIsTheSame(t *testing.T) {
	eachWay(t, func(t *testing.T, ctx context.Context, way Way) {
		if way.Crawl == nil {
			return
		}
		s, asked := site(t)
		pages, err := way.Crawl(ctx, s.URL, 3)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]string)
		for _, p := range pages {
			if _, twice := got[p.URL]; twice {
				t.Errorf("%s is there twice", p.URL)
			}
			got[p.URL] = outcome(p)
		}
		for _, o := range outcomes {
			if got[s.URL+o.path] != o.want {
				t.Errorf("%s: %s, expected %s", o.path, got[s.URL+o.path], o.want)
			}
		}
		if len(got) != len(outcomes) {
			t.Errorf("%d pages, expected %d: %v", len(got), len(outcomes), slices.Sorted(maps.Keys(got)))
		}
		for path, n := range asked() {
			if n != 1 {
				t.Errorf("%s was requested %d times", path, n)
			}
		}
	})
}

// crowd is a server that responds when a number of requests have met, again and again; "/" leads to
// twelve pages and responds at once.
type crowd struct {
	size    int
	pause   time.Duration // from the last request to the responses
	mu      sync.Mutex
	here    int
	respond chan struct{} // closed when the crowd is complete
}

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" {
		w.Header().Set("Content-Type", "text/html")
		for i := range 12 {
			fmt.Fprintf(w, "<a href=%d>", i)
		}
		return
	}
	c.mu.Lock()
	respond := c.respond
	c.here++
	if c.here == c.size {
		c.here = 0
		c.respond = make(chan struct{})
		time.AfterFunc(c.pause, func() { close(respond) })
	}
	c.mu.Unlock()
	select {
	case <-respond:
	case <-r.Context().Done(): // the test is over
	}
}

// TestAtOnce: a way fetches as many pages at once as requested. With fewer, no crowd would ever be
// complete. One too many has a pause to show up; if it does not, the test passes.
func TestAtOnce(t *testing.T) {
	eachWay(t, func(t *testing.T, ctx context.Context, way Way) {
		size := 4
		if way.Name == Blocking.Name {
			size = 1
		}
		var under, most int
		var mu sync.Mutex
		c := &crowd{size: size, pause: 5 * time.Millisecond, respond: make(chan struct{})}
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			under++
			most = max(most, under)
			mu.Unlock()
			c.ServeHTTP(w, r)
			mu.Lock() // before the response, which is sent after this returns
			under--
			mu.Unlock()
		})
		var urls []string
		for i := range 12 {
			urls = append(urls, fmt.Sprint(s.URL, "/", i))
		}
		pages, err := way.Fetch(ctx, urls, 4)
		if err != nil || len(pages) != 12 || ctx.Err() != nil {
			t.Errorf("%d pages, %v, %v; expected 12", len(pages), err, ctx.Err())
		}
		if way.Crawl != nil {
			pages, err := way.Crawl(ctx, s.URL, 4)
			if err != nil || len(pages) != 13 || ctx.Err() != nil {
				t.Errorf("%d pages of a crawl, %v, %v; expected 13", len(pages), err, ctx.Err())
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if most != size {
			t.Errorf("%d at once, expected %d", most, size)
		}
	})
}

// TestCancel: everything ends when ctx is done during a wait for responses, and no request follows.
func TestCancel(t *testing.T) {
	eachWay(t, func(t *testing.T, ctx context.Context, way Way) {
		for _, crawl := range []bool{false, true} {
			if crawl && way.Crawl == nil {
				continue
			}
			size := 3
			if way.Name == Blocking.Name {
				size = 1
			}
			ctx, cancel := context.WithCancel(ctx)
			var mu sync.Mutex
			asked := 0
			never := &crowd{size: 100, respond: make(chan struct{})}
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					mu.Lock()
					if asked++; asked == size {
						cancel()
					}
					mu.Unlock()
				}
				never.ServeHTTP(w, r)
			})
			var pages []Page
			var err error
			if crawl {
				pages, err = way.Crawl(ctx, s.URL, 3)
			} else {
				var urls []string
				for i := range 12 {
					urls = append(urls, fmt.Sprint(s.URL, "/", i))
				}
				pages, err = way.Fetch(ctx, urls, 3)
				if len(pages) != 12 {
					t.Errorf("%d pages, expected 12", len(pages))
				}
			}
			if err != nil {
				t.Error(err)
			}
			for i, p := range pages {
				if !strings.HasPrefix(p.URL, s.URL) {
					t.Errorf("page %d has the URL %q", i, p.URL)
				}
				if p.URL != s.URL+"/" && (p.Status != 0 || !errors.Is(p.Err, context.Canceled)) {
					t.Errorf("%s: status %d, %v; expected that it was cancelled", p.URL, p.Status, p.Err)
				}
			}
			mu.Lock()
			if asked != size {
				t.Errorf("%d requests, expected %d", asked, size)
			}
			mu.Unlock()
		}
	})
}

func TestCancelledBefore(t *testing.T) {
	eachWay(t, func(t *testing.T, ctx context.Context, way Way) {
		s, asked := site(t)
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		pages, err := way.Fetch(ctx, []string{s.URL, s.URL}, 1)
		if err != nil || len(pages) != 2 {
			t.Fatalf("%d pages, %v; expected 2", len(pages), err)
		}
		for _, p := range pages {
			if p.URL != s.URL || !errors.Is(p.Err, context.Canceled) {
				t.Errorf("%q: %v, expected that it was cancelled", p.URL, p.Err)
			}
		}
		if way.Crawl != nil {
			if _, err := way.Crawl(ctx, s.URL, 1); err != nil {
				t.Error(err)
			}
		}
		if n := len(asked()); n > 0 {
			t.Errorf("%d pages were requested", n)
		}
	})
}

// TestCancelConnect: an incomplete connect ends when ctx is done, too.
func TestCancelConnect(t *testing.T) {
	u := "http://" + unanswered(t) + "/"
	eachWay(t, func(t *testing.T, ctx context.Context, way Way) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		pages, err := way.Fetch(ctx, []string{u, u, u}, 2)
		if err != nil || len(pages) != 3 {
			t.Fatalf("%d pages, %v; expected 3", len(pages), err)
		}
		for _, p := range pages {
			if p.URL != u || !errors.Is(p.Err, context.DeadlineExceeded) && !errors.Is(p.Err, context.Canceled) {
				t.Errorf("%q: %v, expected that time ran out", p.URL, p.Err)
			}
		}
	})
}

// unanswered returns an address where connections are neither refused nor completed: its queue is
// full.
func unanswered(t *testing.T) string {
	socket := func() int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	fd := socket()
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := unix.Connect(socket(), name); err != nil && err != unix.EINPROGRESS {
			t.Fatal(err)
		}
	}
	return fmt.Sprint("127.0.0.1:", name.(*unix.SockaddrInet4).Port)
}

// TestEndless: a way reads an endless response up to the limit.
func TestEndless(t *testing.T) {
	eachWay(t, func(t *testing.T, ctx context.Context, way Way) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		})
		pages, err := way.Fetch(ctx, []string{s.URL}, 1)
		if err != nil || len(pages) != 1 || pages[0].Err == nil || ctx.Err() != nil {
			t.Fatalf("%d pages, %v; expected one with an error", len(pages), err)
		}
		// A part of it is not a page either: its size would depend on how the way reads.
		if p := pages[0]; p.Status != 0 || len(p.Body) > 0 {
			t.Errorf("status %d and %d bytes, %v; expected none", p.Status, len(p.Body), p.Err)
		}
	})
}

// TestThreadsEnd: there is a thread per fetch, and none afterwards.
func TestThreadsEnd(t *testing.T) {
	const n = 64
	threads := func() int {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before, most := threads(), 0
	c := &crowd{size: n, respond: make(chan struct{})}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c.ServeHTTP(w, r)
		c.mu.Lock()
		most = max(most, threads())
		c.mu.Unlock()
	})
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprint(s.URL, "/", i))
	}
	for range 3 {
		if _, err := Threads.Fetch(t.Context(), urls, n); err != nil {
			t.Fatal(err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if most < n {
		t.Errorf("at most %d threads, expected one for each of %d fetches", most, n)
	}
	const runtimesOwn = 16 // kept by the runtime
	for end := time.Now().Add(patience); threads() > before+runtimesOwn; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d threads are left, %d were there before", threads(), before)
		}
	}
}

func TestTooManyThreads(t *testing.T) {
	if _, err := Threads.Fetch(t.Context(), make([]string, 20_000), 20_000); err == nil {
		t.Error("20,000 threads: expected an error, before the runtime ends the program")
	}
}

// TestChildKilled: a killed child is an error of the way, which ends.
func TestChildKilled(t *testing.T) {
	aiotest.CheckLeaks(t)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/kill" {
			killChildren(t)
		}
		<-r.Context().Done()
	})
	pages, err := Processes.Fetch(t.Context(), []string{s.URL + "/", s.URL + "/kill", s.URL + "/later"}, 2)
	if err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("%v, expected that a child was killed", err)
	}
	for _, p := range pages {
		if p.URL == "" || p.Err == nil {
			t.Errorf("%q: status %d, expected an error", p.URL, p.Status)
		}
	}
}

// killChildren kills the children of this process.
func killChildren(t *testing.T) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Error(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + entry.Name() + "/stat") // pid (name) state parent …
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// TestChildWithoutHook: if main does not call Child, children do not start children.
func TestChildWithoutHook(t *testing.T) {
	name := os.Args[0]
	defer func() { os.Args[0] = name }()
	os.Args[0] = childName
	if _, err := Processes.Fetch(t.Context(), []string{"http://127.0.0.1/"}, 1); err == nil {
		t.Error("a child has started children")
	}
}

// TestOrphan: a child ends with its parent, even while it waits for a response.
func TestOrphan(t *testing.T) {
	asked := make(chan bool, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
	})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	child := exec.CommandContext(ctx, program)
	child.Args = []string{childName}
	jobs, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewEncoder(jobs).Encode(s.URL); err != nil {
		t.Error(err)
	}
	select {
	case <-asked:
	case <-ctx.Done():
	}
	_ = jobs.Close() // as the kernel does when a process ends
	if err := child.Wait(); err != nil {
		t.Errorf("child: %v, expected that it ends", err)
	}
}
