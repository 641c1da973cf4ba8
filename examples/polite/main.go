// Command polite crawls all hosts in a list, one seed a line:
//
//	CGO_ENABLED=0 go run ./examples/polite -job news.weft seeds.txt
//
// Such a crawl is broad: it visits many hosts at once, so it is fast although each host gets few
// requests. Without a list it crawls three hosts that it serves itself.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/weburl"
)

func main() {
	job := flag.String("job", "", "keep the records in `DIR`; resume the crawl that is there")
	flag.Parse()
	o := weft.Options{
		// Say who you are, for site owners who want to complain.
		HTTP:   weft.HTTP{UserAgent: "examplebot/1.0 (+https://example.org/bot)"},
		Reach:  weft.Reach{Scope: weft.ScopeDomain},
		Pace:   weft.Pace{Delay: time.Second}, // between requests to a host, a domain or an address
		Limits: weft.Limits{LimitPerHost: 1000},
		Memory: 256 << 20, // for any number of hosts: the rest spills to the job
		Job:    *job,
	}
	debug.SetMemoryLimit(int64(o.Memory))
	var err error
	if flag.NArg() > 0 {
		err = crawlFile(o, flag.Arg(0))
	} else {
		err = crawlVillage(o)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func crawlFile(o weft.Options, name string) error {
	list, err := os.Open(name)
	if err != nil {
		return err
	}
	defer list.Close()
	return crawl(o, list)
}

// host counts the URLs of a host by outcome.
type host struct{ fetched, closed, failed int }

// crawl crawls a list of seeds and prints the counts of each host.
func crawl(o weft.Options, list io.Reader) error {
	o.SeedSeq = seeds(list)
	hosts := make(map[string]host)
	o.Hooks.OnRecord = func(r *weft.Record) { // called on one loop: no lock is needed
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return // impossible: the crawl has parsed it
		}
		h := hosts[u.Host()]
		switch r.ErrorKind {
		case "":
			h.fetched++
		case weft.KindRobots, weft.KindNoRobots:
			h.closed++
		default:
			h.failed++
		}
		hosts[u.Host()] = h
	}
	crawler, err := weft.New(o)
	if err != nil {
		return err
	}

	// After Ctrl-C the crawl starts no more URLs, and finishes those in progress.
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ended := context.AfterFunc(interrupted, crawler.Drain)
	defer ended()
	if _, err := crawler.Run(context.Background()); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		h := hosts[name]
		fmt.Printf("%s: %d fetched, %d closed by robots.txt, %d failed\n", name, h.fetched, h.closed, h.failed)
	}
	return nil
}

// seeds reads the list during the crawl, as fast as the crawl takes seeds: the list may have any
// length. An invalid line would end the crawl, so it is logged and skipped.
func seeds(list io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lines := bufio.NewScanner(list)
		for lines.Scan() {
			if _, err := weft.ParseSeed(lines.Text()); err != nil {
				log.Print(err)
			} else if !yield(lines.Text(), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield("", err)
		}
	}
}

// crawlVillage crawls three hosts on one address, whose server measures the pace of requests.
func crawlVillage(o weft.Options) error {
	v := new(village)
	server := httptest.NewServer(v)
	defer server.Close()
	// All hosts are at the server's address.
	there, err := httpclient.ParseOverride("*:80:" + server.Listener.Addr().String())
	if err != nil {
		return err
	}
	o.HTTP.Resolve = []httpclient.Override{there}
	o.Pace.Delay = 20 * time.Millisecond // our own server needs no more
	list := "http://baker.example/\nhttp://smith.example/\nhttp://miller.example/\n"
	if err := crawl(o, strings.NewReader(list)); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Printf("the server had %d requests, at least %v apart: %t\n", v.requests, o.Pace.Delay, v.closest >= o.Pace.Delay)
	return nil
}

// village is a server of many hosts, each with two pages and a private one.
type village struct {
	mu       sync.Mutex // net/http has a goroutine for each connection
	requests int
	last     time.Time // time of the last request
	closest  time.Duration
}

func (v *village) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	now := time.Now()
	if gap := now.Sub(v.last); v.requests == 1 || gap < v.closest {
		v.closest = gap
	}
	v.requests++
	v.last = now
	v.mu.Unlock()

	w.Header().Set("Content-Type", "text/html")
	switch r.URL.Path {
	case "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
	case "/":
		fmt.Fprint(w, `<a href=/news>News</a> <a href=/private>Private</a>`)
	default:
		fmt.Fprint(w, `<a href=/>Home</a>`)
	}
}
