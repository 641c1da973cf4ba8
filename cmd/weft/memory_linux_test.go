package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// TestMemoryOfTheProcess: the process stays near its budget where concurrent bodies are many times
// larger. The race detector needs four times the memory, and more.
func TestMemoryOfTheProcess(t *testing.T) {
	const size = 8 << 20
	pages, most := 40, 150 // MiB
	if raced {             // a byte takes several, and much longer
		pages, most = 12, 450
	}
	text := bytes.Repeat([]byte("x"), size)
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(text)
			return
		}
		var links []string
		for i := range pages {
			links = append(links, fmt.Sprintf("/%d", i))
		}
		html(w, links...)
	})
	cmd, stderr := weftCommand(t, "crawl", "--memory", "64MiB", s.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	resident := 0
	for over := false; !over; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			over = true
		case <-time.After(10 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // of a process that may have ended
			if found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status); found != nil {
				n, _ := strconv.Atoi(string(found[1]))
				resident = max(resident, n>>10)
			}
		}
	}
	t.Logf("%d MiB were resident at most", resident)
	if resident > most {
		t.Errorf("%d MiB were resident at most, expected at most %d of %d MiB of bodies", resident, most, pages*size>>20)
	}
}
