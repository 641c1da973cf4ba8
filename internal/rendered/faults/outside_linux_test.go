package faults_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestMemoryOfPages: the command stays near its budget while pages ask for much at once. The worst
// page without scripts takes as much: see docs/proof/memory.md.
func TestMemoryOfPages(t *testing.T) {
	t.Parallel()
	const pages, size, most = 3, 16 << 20, 155
	asked := long.Or(2, 8)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("x"), size))
	_ = z.Close()
	var answered atomic.Int32
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
		case "/big":
			answered.Add(1)
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped.Bytes())
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>start</title>", wefttest.LinksTo(pages, "/p"))
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p><script>Promise.all(Array.from({length: ", asked, "}, (_, i) => fetch('/big?' + i + location.pathname).then(r => r.arrayBuffer()).then(b => b.byteLength)))"+
				".then(all => { document.title = all.reduce((a, b) => a + b) })</script>")
		}
	})
	cmd, stderr := wefttest.Command(t, "crawl", "--render=always", "--memory", "64MiB", "--delay", "0s", "--job", "job", s.URL)
	peak := peakOf(t, cmd)
	if code := wefttest.ExitCode(cmd.Wait()); code != wefttest.Done {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	all := s.Records(t, cmd.Dir+"/job")
	for i := range pages {
		r := all["/p"+strconv.Itoa(i)]
		switch {
		case r == nil || r.Rendered == nil:
			t.Errorf("page %d: %+v", i, r)
		case r.Title == strconv.Itoa(asked*size):
		case r.Rendered.Cut != "" || r.Rendered.ErrorKind != "":
			t.Logf("page %d: a busy machine does not have the time for so much: %+v", i, r.Rendered)
		default:
			t.Errorf("page %d: %q, rendered %+v", i, r.Title, r.Rendered)
		}
	}
	t.Logf("%d MiB, %d responses", peak>>20, answered.Load())
	if answered.Load() < pages {
		t.Errorf("%d responses, expected %d of each of %d pages", answered.Load(), asked, pages)
	}
	if peak > most<<20 {
		t.Errorf("%d MiB at most, expected %d", peak>>20, most)
	}
}

// peakOf starts a command, and returns the most memory that it had when it has ended. Linux counts
// that of the test's own process for it, if it is asked by wait4.
func peakOf(t *testing.T, cmd *exec.Cmd) (peak int64) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		s, err := process.ReadStatus(cmd.Process.Pid)
		if err != nil {
			return peak
		}
		peak = s.Peak
		time.Sleep(5 * time.Millisecond)
	}
}

// TestKills: a crawl is interrupted, once or twice, or killed at some moment, with tabs busy. No
// process of the browser stays, no file of it and no shared memory. The next run has each page
// once.
func TestKills(t *testing.T) {
	t.Parallel()
	const pages = 9
	for i := range long.Or(3, 100) {
		temp, err := os.MkdirTemp("", "weft-") // short: see render.Options
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(temp)
		var asked atomic.Int32
		busy, ready := context.WithCancel(t.Context())
		s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			switch r.URL.Path {
			case "/":
				_, _ = w.Write([]byte("<title>start</title>" + wefttest.LinksTo(pages, "/p")))
			case "/data":
				if int(asked.Add(1)) >= 1+i%pages {
					ready()
				}
			default:
				_, _ = w.Write([]byte("<p id=p><script>fetch('/data?' + Math.random()).then(() => { document.title = 'shown'; setInterval(() => p.append('y'), 100) })</script>"))
			}
		})
		before := sharedMemory()
		cmd, stderr := wefttest.Command(t, "crawl", "--render=always", "--delay", "0s", "--job", "job", s.URL)
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-busy.Done():
		case err := <-ended:
			t.Fatalf("%v before it was killed: %s", err, stderr)
		}
		time.Sleep(time.Duration(i*37%400) * time.Millisecond) // into what comes next
		signals := [][]os.Signal{{syscall.SIGKILL}, {syscall.SIGINT}, {syscall.SIGINT, syscall.SIGINT}}[i%3]
		for n, signal := range signals {
			if n > 0 {
				time.Sleep(20 * time.Millisecond)
			}
			_ = cmd.Process.Signal(signal)
		}
		err = <-ended
		t.Log(i, signals, err)
		nothingLeft(t, i, temp, before)
		if again := wefttest.With(t, cmd.Dir, []string{"TMPDIR=" + temp}, "crawl", "--job", "job"); again.Code != wefttest.Done {
			t.Fatalf("%d, by %v: the next run: exit %d: %s", i, signals, again.Code, again.Stderr)
		}
		all := s.Records(t, filepath.Join(cmd.Dir, "job"))
		for n := range pages {
			if r := all["/p"+strconv.Itoa(n)]; r == nil || r.Rendered == nil || r.Title != "shown" {
				t.Errorf("%d, by %v: page %d: %+v", i, signals, n, r)
			}
		}
		nothingLeft(t, i, temp, before)
		s.Close()
	}
}

// nothingLeft waits until nothing of a browser stays that has its files below a folder.
func nothingLeft(t *testing.T, kill int, temp string, shared []string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(temp, "*"))
		var running []string
		commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range commands {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), temp) {
				running = append(running, path)
			}
		}
		memory := slices.DeleteFunc(sharedMemory(), func(s string) bool { return slices.Contains(shared, s) })
		if len(files)+len(running)+len(memory) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("kill %d: left %q, processes %q, shared memory %q", kill, files, running, memory)
		}
	}
}

// sharedMemory returns the names of what browsers share, and the numbers of segments of System V.
func sharedMemory() (all []string) {
	files, _ := filepath.Glob("/dev/shm/*hromium*")
	hidden, _ := filepath.Glob("/dev/shm/.*hromium*")
	all = append(files, hidden...)
	text, _ := os.ReadFile("/proc/sysvipc/shm")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 {
			all = append(all, f[1])
		}
	}
	return all
}
