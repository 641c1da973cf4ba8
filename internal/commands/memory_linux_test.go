package commands_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestMemoryOfTheProcess: the process stays near its budget where concurrent bodies are many times
// larger.
func TestMemoryOfTheProcess(t *testing.T) {
	const size, pages, most = 8 << 20, 30, 130 // MiB
	text := bytes.Repeat([]byte("x"), size)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(text)
			return
		}
		var links []string
		for i := range pages {
			links = append(links, fmt.Sprintf("/%d", i))
		}
		wefttest.HTML(w, links...)
	})
	resident := residentAtMost(t, "crawl", "--memory", "64MiB", s.URL)
	if resident > most {
		t.Errorf("%d MiB were resident at most, expected at most %d of %d MiB of bodies", resident, most, pages*size>>20)
	}
}

// TestMemoryOverTLS: the process stays near its budget where servers send certificates that nobody
// needs, and a few connections come to more than all of it.
func TestMemoryOverTLS(t *testing.T) {
	const size = 240 << 10 // crypto/tls takes 256 KiB
	const hosts, most = 60, 110
	config, err := webtest.Needless(size)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w, "/a", "/b") }))
	s.TLS = config
	s.StartTLS()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	args := []string{"crawl", "--memory", "64MiB", "--no-robots", "--insecure", "--job", filepath.Join(t.TempDir(), "job"),
		"--address-delay", "0s", "--domain-delay", "0s", "--delay", "0s", "--resolve", "*:" + port + ":127.0.0.1"}
	for i := range hosts {
		args = append(args, fmt.Sprintf("https://h%d.test:%s/", i, port))
	}
	if resident := residentAtMost(t, args...); resident > most {
		t.Errorf("%d MiB were resident at most, expected at most %d, with %d hosts that send %d KiB of certificates", resident, most, hosts, size>>10)
	}
}

// residentAtMost runs the command and returns the most MiB that were resident.
func residentAtMost(t *testing.T, args ...string) int {
	t.Helper()
	cmd, stderr := wefttest.Command(t, args...)
	cmd.Env = append(cmd.Env, "GOGC=100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, mark := make(chan error, 1), regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
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
			// The process may have ended.
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if found := mark.FindSubmatch(status); found != nil {
				n, _ := strconv.Atoi(string(found[1]))
				resident = max(resident, n>>10)
			}
		}
	}
	t.Logf("%d MiB were resident at most", resident)
	return resident
}
