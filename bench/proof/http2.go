package proof

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/servers"
)

// Over is a crawl of a folder over a real server, to run and judge.
type Over struct {
	Command string // the weft command
	Dir     string // an existing folder, which other users may enter
	Root    string // the folder to serve
	Case
}

// Case is a server with a quirk, and what a crawl over it has to keep to.
type Case struct {
	Server  *servers.Server
	What    string // the quirk; "": as it is
	Options servers.Options
	// Event is called after a third of the requests.
	Event  func(ctx context.Context, r *servers.Running) error
	HTTP1  bool     // requests come in HTTP/1.1
	Conns  int      // the most connections; 0: one
	Broken bool     // requests may be broken: they are sent again, and counted
	Flags  []string // of the weft command
}

// A crawl of Over sends so many requests at once, from so many fetch loops: over HTTP/2 from one of
// them.
const (
	parallel = 16
	loops    = 2
)

// Crossed is the outcome of an Over.
type Crossed struct {
	Over
	Version  string
	Pages    map[string]string // SHA-256 of bodies with status 200, by URI
	Requests int
	Twice    []string // URIs that the server has logged more than once
	Conns    int
	Retried  int      // URLs with several tries
	Wrong    []string // faults of the crawl
	Took     time.Duration
}

// HTTP2Cases returns what make proof-http2 crawls.
func HTTP2Cases() (all []Case) {
	byName := make(map[string]*servers.Server)
	for _, s := range servers.All() {
		byName[s.Name] = s
		all = append(all, Case{Server: s})
	}
	reload := func(_ context.Context, r *servers.Running) error { return r.Reload() }
	restart := func(ctx context.Context, r *servers.Running) error {
		r.End()
		return r.Restart(ctx)
	}
	few := servers.Options{Streams: 2}
	for _, c := range []Case{
		{What: "at most 2 streams", Options: few, Conns: 6},
		// Apache has 100 requests a connection.
		{What: "HTTP/1.1 only", Options: servers.Options{HTTP1: true}, HTTP1: true, Conns: parallel + 8},
	} {
		for _, name := range []string{"Go", "nginx", "Apache", "h2o", "HAProxy", "nghttpd", "Node.js"} {
			if c.Server = byName[name]; !c.HTTP1 || name != "h2o" && name != "nghttpd" && name != "Node.js" {
				all = append(all, c)
			}
		}
	}
	for _, c := range []Case{
		{What: "100 requests a connection", Options: servers.Options{Requests: 100}, Conns: 7},
		{What: "no window for us", Options: servers.Options{Window: -1}},
		{What: "reload in the middle", Event: reload, Conns: 3},
		{What: "restart in the middle", Event: restart, Conns: 2 + parallel, Broken: true},
	} {
		c.Server = byName["nginx"]
		all = append(all, c)
	}
	for _, name := range []string{"Go", "HAProxy"} {
		all = append(all, Case{Server: byName[name], What: "reload in the middle", Event: reload, Conns: 3})
	}
	// Apache ends connections in the middle of responses.
	all = append(all, Case{Server: byName["Apache"], What: "reload in the middle", Event: reload, Conns: 2 + parallel, Broken: true})
	for _, name := range []string{"Go", "Apache", "nghttpd"} { // and so with small windows
		all = append(all, Case{Server: byName[name], What: "64 MiB of memory for us", Flags: []string{"--memory", "64MiB"}})
	}
	for _, quirk := range [][2]string{
		{"padding of 255 bytes", "--padding=255"}, {"no table of HPACK", "--header-table-size=0"},
		{"trailers", "--trailer=x: y"}, {"no content-length", "--no-content-length"},
	} {
		all = append(all, Case{Server: byName["nghttpd"], What: quirk[0], Options: servers.Options{Flags: quirk[1:]}})
	}
	return all
}

// Run runs the crawl. Pages are those of another one, to compare with; nil: there was none.
func (o Over) Run(ctx context.Context, pages map[string]string) (c Crossed, err error) {
	o.Case.Conns = cmp.Or(o.Case.Conns, 1)
	c.Over, c.Version = o, o.Server.Version(ctx)
	dir, err := os.MkdirTemp(o.Dir, "over")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.Options.Root, o.Options.Dir = o.Root, dir
	if err := os.Chmod(dir, 0o777); err != nil { // servers run as other users
		return c, err
	}
	running, err := o.Server.Start(ctx, o.Options)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	began := time.Now()
	p, err := process.Start(ctx, process.Options{Dir: dir, Env: []string{"GOMAXPROCS=" + strconv.Itoa(loops)}}, o.Command,
		append([]string{"crawl", "--quiet", "--job", "job", "--ca", "cert.pem", "--per-host", strconv.Itoa(parallel), running.URL()}, o.Flags...)...)
	if err != nil {
		return c, err
	}
	defer p.Kill()
	if o.Event != nil {
		if err := o.during(ctx, p, running, max(len(pages)/3, 50)); err != nil {
			return c, err
		}
	}
	if err := p.Wait(); err != nil {
		return c, err
	}
	c.Took = time.Since(began)
	if err := c.read(filepath.Join(dir, "job", "pages.jsonl"), running.URL()); err != nil {
		return c, err
	}
	running.End() // its log is complete then
	requests, err := running.Requests()
	if err != nil {
		return c, err
	}
	c.judge(requests, pages)
	return c, nil
}

// during makes the event happen once the server has logged a number of requests.
func (o *Over) during(ctx context.Context, p *process.Process, running *servers.Running, after int) error {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for running.Count() < after {
		select {
		case <-p.Ended():
			return fmt.Errorf("%s: the crawl ended before %d requests", o.Server.Name, after)
		case <-look.C:
		}
	}
	return o.Event(ctx, running)
}

// read reads the records of the crawl, and compares bodies with the files.
func (c *Crossed) read(path, site string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c.Pages = make(map[string]string)
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		var r weft.Record
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			return err
		}
		if r.Tries > 1 {
			c.Retried++
		}
		switch {
		case r.Error != "":
			c.note("%s: %s", r.URL, r.Error)
		case r.Status == 200:
			uri := strings.TrimPrefix(r.URL, strings.TrimSuffix(site, "/"))
			c.Pages[uri] = r.SHA256
			if want, err := c.digest(uri); err != nil || want != r.SHA256 {
				c.note("%s: the body is not that of the file (%v)", uri, err)
			}
		}
	}
}

func (c *Crossed) note(format string, args ...any) {
	c.Wrong = append(c.Wrong, fmt.Sprintf(format, args...))
}

// digest returns the SHA-256 of the file that a URI stands for.
func (c *Crossed) digest(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", err
	}
	name := filepath.Join(c.Root, filepath.FromSlash(u.Path))
	if strings.HasSuffix(u.Path, "/") {
		name = filepath.Join(name, "index.html")
	}
	b, err := os.ReadFile(name)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// judge compares what the server has logged with what it has to be.
func (c *Crossed) judge(requests []servers.Request, pages map[string]string) {
	conns, times := make(map[string]bool), make(map[string]int)
	for _, r := range requests {
		conns[r.Conn] = true
		if times[r.URI]++; times[r.URI] == 2 {
			c.Twice = append(c.Twice, r.URI)
		}
		if strings.HasPrefix(r.Protocol, "HTTP/1") != c.HTTP1 {
			c.note("%s %s came in %s", r.Method, r.URI, r.Protocol)
		}
	}
	c.Requests, c.Conns = len(requests), len(conns)
	slices.Sort(c.Twice)
	if c.Conns > c.Case.Conns {
		c.note("%d connections, expected at most %d", c.Conns, c.Case.Conns)
	}
	twice, retried := 0, 0
	if c.Broken { // what was under way is sent again, and what found nobody, until the host is parked
		twice, retried = parallel, 2*parallel
	}
	if len(c.Twice) > twice || c.Retried > retried {
		c.note("%d URLs requested more than once and %d with several tries, expected at most %d and %d: %.300q",
			len(c.Twice), c.Retried, twice, retried, c.Twice)
	}
	if len(c.Pages) == 0 {
		c.note("no pages")
	}
	for uri := range pages {
		if c.Pages[uri] == "" {
			c.note("%s is missing", uri)
		}
	}
	if pages != nil && len(c.Pages) > len(pages) {
		c.note("%d pages, expected %d", len(c.Pages), len(pages))
	}
}

// WriteHTTP2 writes the page of crawls over real servers.
func WriteHTTP2(w io.Writer, command string, all []Crossed, missing []string) error {
	p := &page{w: w}
	var failures []string
	for i := range all {
		for _, wrong := range all[i].Wrong[:min(10, len(all[i].Wrong))] {
			failures = append(failures, fmt.Sprintf("%s, %s: %s", all[i].Server.Name, all[i].quirk(), wrong))
		}
	}
	p.line("# HTTP/2 with real servers\n")
	if len(failures) == 0 {
		p.line("A site is crawled whole over every one of these servers, and each URL is requested once.\n")
	} else {
		p.line("A site is crawled whole over most of these servers. The section Wrong lists the others.\n")
	}
	p.line("## How it was measured\n")
	p.line("`%s`,", command)
	p.line("%s: each server serves the same files over TLS, and the real command crawls them", runtime.Version())
	p.line("with at most %d requests at once, from %d fetch loops. The marks: the SHA-256 of each body is that", parallel, loops)
	p.line("of its file, the pages are those of the first crawl, no record has an error or several tries, the")
	p.line("server's log has no URL twice, each request came over HTTP/2 (over HTTP/1.1 where the server has")
	p.line("nothing else), over no more connections than stated: one, more where a server")
	p.line("takes few streams or few requests a connection. A server that is stopped in the middle, and")
	p.line("Apache even when it is reloaded, may break requests under way: at most %d come twice. With those", parallel)
	p.line("that find nobody, at most %d are tried again.\n", 2*parallel)
	p.line("| server | version | quirk | pages | requests | twice | retried | connections | at most |")
	p.line("|---|---|---|---:|---:|---:|---:|---:|---:|")
	for i := range all {
		c := &all[i]
		p.line("| %s | %s | %s | %d | %d | %d | %d | %d | %d |", c.Server.Name, c.Version, c.quirk(), len(c.Pages),
			c.Requests, len(c.Twice), c.Retried, c.Conns, c.Case.Conns)
	}
	if len(missing) > 0 {
		p.line("\nNot installed: %s.", strings.Join(missing, ", "))
	}
	p.failures(failures)
	return p.err
}

func (c *Crossed) quirk() string {
	if c.What == "" {
		return "none"
	}
	return c.What
}
