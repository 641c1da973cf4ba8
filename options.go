package weft

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/sys/unix"
)

// Options configure a crawl. Zero values are the defaults.
type Options struct {
	Seeds []string // absolute http URLs; at least one
	Job   string   // the job's folder, which must not exist; empty: JobName of the first seed

	Concurrency  int           // requests under way at once; 0: 64
	Delay        time.Duration // between the end of a response and the host's next request; 0: none
	Timeout      time.Duration // of one fetch; 0: 30 s
	Retries      int           // after the first try, when an error may pass; 0: 2, negative: none
	MaxRedirects int           // followed from one link; 0: 10, negative: none
	MaxBody      int           // bytes of a body, as sent and as decoded; 0: 16 MiB
	UserAgent    string        // empty: DefaultUserAgent

	Loops int         // event loops that fetch, in Run; 0: one a core
	Loop  aio.Options // of every loop that Run makes
}

// Version of Weft.
const Version = "0.1.0-dev"

// DefaultUserAgent names the crawler to the sites it visits.
const DefaultUserAgent = "weft/" + Version + " (+https://github.com/weftcrawl/weft)"

var (
	// ErrJobExists is returned when the job's folder is already there.
	ErrJobExists = errors.New("exists already")

	// ErrRan is returned when a Crawler is run again.
	ErrRan = errors.New("weft: a crawl runs once")
)

// config is checked and frozen Options.
type config struct {
	Options
	seeds []weburl.URL
	hosts map[string]bool // in scope
}

func (o Options) check() (*config, error) {
	c := &config{Options: o, hosts: make(map[string]bool)}
	if len(o.Seeds) == 0 {
		return nil, errors.New("no URL to begin at")
	}
	for _, s := range o.Seeds {
		u, err := weburl.Parse(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("%w, expected an absolute one such as http://example.org/", err)
		}
		if u.Scheme() == "https" {
			return nil, fmt.Errorf("URL %.128q: https is not supported yet, expected http", s)
		}
		if u.Scheme() != "http" {
			return nil, fmt.Errorf("URL %.128q: expected http, as in http://example.org/", s)
		}
		if u.Username() != "" || u.Password() != "" {
			return nil, fmt.Errorf("URL at %.128q: a user and password in it are not supported yet", u.Host())
		}
		u = u.Canonical()
		c.seeds = append(c.seeds, u)
		c.hosts[u.Host()] = true
	}
	for _, n := range []struct {
		name      string
		value     int64
		orDefault *int
		def       int
	}{
		{"concurrency", int64(o.Concurrency), &c.Concurrency, min(64, maxConcurrency())},
		{"loops", int64(o.Loops), &c.Loops, runtime.GOMAXPROCS(0)},
		{"maximum body", int64(o.MaxBody), &c.MaxBody, 16 << 20},
	} {
		if n.value < 0 {
			return nil, fmt.Errorf("%s of %d, expected a positive number", n.name, n.value)
		}
		if n.value == 0 {
			*n.orDefault = n.def
		}
	}
	if o.Delay < 0 || o.Timeout < 0 {
		return nil, errors.New("a negative time, expected a positive one")
	}
	c.Retries = orDefault(o.Retries, 2)
	c.MaxRedirects = orDefault(o.MaxRedirects, 10)
	c.Loops = min(c.Loops, c.Concurrency)
	if o.UserAgent == "" {
		c.UserAgent = DefaultUserAgent
	}
	if strings.ContainsFunc(c.UserAgent, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("user agent %.64q has a control character", c.UserAgent)
	}
	if most := maxConcurrency(); c.Concurrency > most {
		return nil, fmt.Errorf("concurrency of %d: this process may have %d requests under way (a descriptor each, see ulimit -n)", c.Concurrency, most)
	}
	if o.Job == "" {
		c.Job = JobName(c.seeds[0])
	}
	return c, nil
}

// spareDescriptors is what a process needs beside one descriptor a request: files,
// loops, and the connections that are kept.
const spareDescriptors = 32

// maxConcurrency is how many requests may be under way at once: at most 100,000,
// and as many as the process may have descriptors.
func maxConcurrency() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1000
	}
	return max(1, int(min(100_000, limit.Cur))-spareDescriptors)
}

// orDefault is n; 0 stands for def, and a negative number for 0.
func orDefault(n, def int) int {
	switch {
	case n == 0:
		return def
	case n < 0:
		return 0
	}
	return n
}

// JobName is the folder of a crawl that begins at u: HOST.weft, in the current folder.
func JobName(u weburl.URL) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, u.Host()) + ".weft"
}

// follows says whether a link leads into the scope.
func (c *config) follows(u weburl.URL) bool {
	return u.Scheme() == "http" && c.hosts[u.Host()]
}
