//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// asPeer is the argument by which this program is the server that Weft is compared with.
const asPeer = "peer"

// server is a process that has printed its address.
type server struct {
	cmd *exec.Cmd
	url string
}

// start starts a server, and waits until it has answered a request.
func start(program string, args ...string) (*server, error) {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	s.url = strings.TrimSuffix(strings.TrimSpace(line), "/")
	resp, err := http.Get(s.url + "/healthz")
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, resp.Body.Close()
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// weftServe starts a weft serve.
func (b *bench) weftServe() (*server, error) {
	dir, err := os.MkdirTemp(b.dir, "crawls.")
	if err != nil {
		return nil, err
	}
	return start(b.weft, "serve", "--no-config", "--allow-private", "--listen", "127.0.0.1:0", dir)
}

// cpu returns the CPU time that it has used, in ticks of 10 ms.
func (s *server) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, behind, _ := strings.Cut(string(text), ") ") // the name may have spaces
	f := strings.Fields(behind)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// memory returns a figure of /proc/PID/status, in MB.
func (s *server) memory(name string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			return float64(kib) * 1024 / 1e6
		}
	}
	return 0
}

// latencies are the times of requests, the quickest first.
type latencies []time.Duration

func (l latencies) at(share float64) float64 {
	return l[int(float64(len(l)-1)*share)].Seconds() * 1000
}

// load has so many clients make n requests, one after another each, and returns their times.
func load(clients, n int, ask func(client, n int) error) (latencies, error) {
	took := make(latencies, n)
	next := make(chan int)
	failed := make(chan error, n)
	done := make(chan bool)
	for i := range clients {
		go func() {
			for n := range next {
				began := time.Now()
				if err := ask(i, n); err != nil {
					failed <- err
				}
				took[n] = time.Since(began)
			}
			done <- true
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range clients {
		<-done
	}
	slices.Sort(took)
	close(failed)
	return took, <-failed
}

// newClients returns clients that share no connection.
func newClients(n int) []*http.Client {
	all := make([]*http.Client, n)
	for i := range all {
		all[i] = &http.Client{Transport: &http.Transport{}}
	}
	return all
}

// post posts JSON and reads the answer.
func post(c *http.Client, url, body string, header ...string) (*http.Response, []byte, error) {
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s: %.300s", url, resp.Status, text)
	}
	return resp, text, err
}

// median returns that of figures.
func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
