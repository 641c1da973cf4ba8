//go:build linux

// Recrawl measures the cost of recrawling an unchanged site beside its first crawl, and writes
// docs/bench/recrawl.md.
//
//	recrawl [-o FILE] [-runs N] [-jobs DIR] [-weft FILE] [-command TEXT]
//
// The sites are the documentation in Debian's python3.11-doc and libboost1.81-doc, served by an
// nginx that the program starts: with Last-Modified and ETag, and with neither.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// Marks for an unchanged page, relative to its first crawl.
const (
	markBytes = 0.3
	markCPU   = 0.5
)

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "make bench-recrawl", "command to name on the page")
	weft := flag.String("weft", "", "the command to measure")
	jobs := flag.String("jobs", "/dev/shm", "folder for the jobs")
	runs := flag.Int("runs", 5, "runs per site")
	flag.Parse()
	page, err := measure(*weft, *jobs, *runs, *command)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, page, 0o666)
	} else if err == nil {
		_, err = os.Stdout.Write(page)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "recrawl:", err)
		os.Exit(1)
	}
}

// site is a folder of pages, served with or without validators.
type site struct {
	name, root string
	validators bool
	port       int
}

// figures are the cost of one crawl.
type figures struct {
	URLs  int           `json:"done"`
	Bytes int64         `json:"bytes"`
	Same  int           `json:"unchanged"`
	CPU   time.Duration `json:"cpu_ns"`
}

func measure(weft, jobs string, runs int, command string) ([]byte, error) {
	const python, boost = "/usr/share/doc/python3.11/html", "/usr/share/doc/libboost1.81-doc/doc/html"
	sites := []site{{"small", python, true, 0}, {"medium", boost, true, 0}, {"small", python, false, 0}, {"medium", boost, false, 0}}
	dir, err := os.MkdirTemp(jobs, "weft-recrawl.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	stop, err := serve(dir, sites)
	if err != nil {
		return nil, err
	}
	defer stop()

	var page bytes.Buffer
	// The first paragraph is to be reviewed whenever the page is measured again.
	fmt.Fprintf(&page, `# Recrawling a site

Recrawling an unchanged site that sends validators (ETag, Last-Modified) takes 1 to 9 %% of the
bytes and 14 to 39 %% of the CPU time of the first crawl. Without validators every page is sent
again; Weft recognises it by its hash and still saves a fifth to a half of the CPU time.

## How it was measured

%s, at commit %s, with %s on %d cores; medians of %d runs. Each run crawls a site, then recrawls
it with --update; nothing changes meanwhile. CPU is that of the whole process. Weft requests
gzip; state and records are in memory (%s). One URL of the medium site returns 400 both times: an
error is never unchanged.

## Figures

| site | validators | URLs | unchanged | first: KB, CPU µs per URL | again: KB, CPU µs per URL | bytes | mark | CPU | mark |
|---|---|---|---|---|---|---|---|---|---|
`, "`"+command+"`", commit(), runtime.Version(), runtime.NumCPU(), runs, jobs)
	for _, s := range sites {
		var first, again []figures
		var sent, cpu []float64
		for run := range runs {
			a, b, err := s.crawlTwice(weft, filepath.Join(dir, "job"))
			if err != nil {
				return nil, fmt.Errorf("%s, run %d: %w", s.name, run+1, err)
			}
			first, again = append(first, a), append(again, b)
			sent = append(sent, float64(b.Bytes)/float64(a.Bytes))
			cpu = append(cpu, float64(b.CPU)/float64(a.CPU))
		}
		validators, marks := "yes", [2]string{verdict(median(sent), markBytes), verdict(median(cpu), markCPU)}
		if !s.validators {
			validators, marks[0] = "no", "none"
		}
		fmt.Fprintf(&page, "| %s | %s | %d | %d | %s | %s | %.2f | %s | %.2f (%.2f–%.2f) | %s |\n", s.name, validators, again[0].URLs, again[0].Same,
			perURL(first), perURL(again), median(sent), marks[0], median(cpu), slices.Min(cpu), slices.Max(cpu), marks[1])
	}
	return page.Bytes(), nil
}

// commit names the measured tree, if git does.
func commit() string {
	name, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(name))
}

func verdict(figure, mark float64) string {
	if figure <= mark {
		return fmt.Sprintf("≤ %.1f, met", mark)
	}
	return fmt.Sprintf("≤ %.1f, **missed**", mark)
}

func median[T cmp.Ordered](all []T) T {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

// perURL is the median cost of a URL: KB received, and µs of CPU time.
func perURL(all []figures) string {
	var sent, cpu []float64
	for _, f := range all {
		sent = append(sent, float64(f.Bytes)/1e3/float64(f.URLs))
		cpu = append(cpu, float64(f.CPU.Microseconds())/float64(f.URLs))
	}
	return fmt.Sprintf("%.2f, %.0f", median(sent), median(cpu))
}

// crawlTwice crawls a site, then recrawls it.
func (s site) crawlTwice(weft, job string) (first, again figures, err error) {
	if err := os.RemoveAll(job); err != nil {
		return first, again, err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/", s.port)
	if first, err = crawl(weft, job, "--job", job, "-c", "64", "-q", url); err != nil {
		return first, again, err
	}
	again, err = crawl(weft, job, "--update", job, "-c", "64", "-q")
	if err == nil && again.URLs != first.URLs {
		err = fmt.Errorf("%d URLs, and then %d", first.URLs, again.URLs)
	}
	return first, again, err
}

// crawl runs the command and reads the figures of its job.
func crawl(weft, job string, args ...string) (f figures, err error) {
	p, err := process.Run(context.Background(), process.Options{}, weft, append([]string{"crawl"}, args...)...)
	if err != nil {
		return f, err
	}
	status, err := exec.Command(weft, "status", "--json", job).Output()
	if err == nil {
		err = json.Unmarshal(status, &f)
	}
	f.CPU = p.CPU()
	return f, err
}

// serve starts an nginx with each site on a port of its own. Stop ends it.
func serve(dir string, sites []site) (stop func(), err error) {
	var servers strings.Builder
	for i := range sites {
		s := &sites[i]
		if _, err := os.Stat(s.root); err != nil {
			return nil, err
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		s.port = ln.Addr().(*net.TCPAddr).Port
		if err := ln.Close(); err != nil { // nginx takes the port
			return nil, err
		}
		without := ""
		if !s.validators {
			without = `etag off; add_header Last-Modified ""; if_modified_since off;`
		}
		fmt.Fprintf(&servers, "server { listen 127.0.0.1:%d backlog=4096; root %s; index index.html; %s }\n", s.port, s.root, without)
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := strings.NewReplacer("@DIR@", dir, "@SERVERS@", servers.String()).Replace(`
worker_processes 1;
daemon off;
pid @DIR@/nginx.pid;
error_log @DIR@/error.log crit;
events { worker_connections 8192; }
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 1000000;
  open_file_cache max=60000 inactive=600s; open_file_cache_valid 600s;
  gzip on; gzip_comp_level 1; gzip_min_length 256; gzip_types text/css application/javascript;
  access_log off;
  charset utf-8;
  client_body_temp_path @DIR@/b; proxy_temp_path @DIR@/p; fastcgi_temp_path @DIR@/f; uwsgi_temp_path @DIR@/u; scgi_temp_path @DIR@/s;
  @SERVERS@
}
`)
	if err := os.WriteFile(conf, []byte(text), 0o666); err != nil {
		return nil, err
	}
	nginx, err := process.Start(context.Background(), process.Options{}, "nginx", "-c", conf)
	if err != nil {
		return nil, err
	}
	stop = func() {
		nginx.Signal(syscall.SIGTERM)
		<-nginx.Ended()
	}
	for range 100 {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", sites[0].port))
		if err == nil {
			return stop, c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, errors.New("nginx does not respond")
}
