// Command webtest serves a synthetic web on this machine's loopback until SIGTERM or SIGINT, each
// host on an address of its own in 127.0.0.0/8, with a name server. When ready, it prints one line:
//
//	{"http":"0.0.0.0:8080","dns":"127.0.0.1:5353","seed":"http://h000000.s000000.test:8080/"}
//
// With one host (the default), the web is on one address and named by it, so that it can be crawled
// without the name server.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/weftcrawl/weft/internal/webtest"
)

func main() {
	debug.SetGCPercent(400) // responses are garbage and the heap is small: trade memory for time
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "webtest:", err)
		os.Exit(1)
	}
}

// options are the options of the command line.
type options struct {
	web       webtest.Config
	addresses webtest.Addresses
	policy    webtest.Policy
	log       string
	truth     string
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("webtest", flag.ContinueOnError)
	f.Uint64Var(&o.web.Seed, "seed", 1, "seed of the web")
	f.IntVar(&o.web.Hosts, "hosts", 1, "number of hosts")
	f.IntVar(&o.web.Pages, "pages", 100, "average pages per host")
	f.IntVar(&o.web.Links, "links", 8, "average links per page")
	f.IntVar(&o.web.PageBytes, "page-bytes", 4096, "average bytes per page")
	f.StringVar(&o.web.Domain, "domain", "test", "domain of all host names")
	f.StringVar(&o.web.Host, "name", "", "name of the only host (default its address)")
	f.DurationVar(&o.web.Latency, "latency", 0, "the most that a response is delayed")
	f.DurationVar(&o.web.SlowDelay, "slow-delay", 0, "delay of slow responses (default 500ms)")
	f.DurationVar(&o.web.CrawlDelay, "crawl-delay", 0, "Crawl-delay in robots.txt files that have one (default 200ms)")
	f.BoolVar(&o.web.Traps, "traps", false, "give every host an endless calendar")
	f.BoolVar(&o.web.Clean, "clean", false, "make rates that are not given 0")
	f.Func("rates", "JSON object, as in {\"Stalled\":0.1,\"DeadHost\":-1}; names as in webtest.Rates", func(s string) error {
		d := json.NewDecoder(strings.NewReader(s))
		d.DisallowUnknownFields()
		return d.Decode(&o.web.Rates)
	})
	f.StringVar(&o.addresses.HTTP, "listen", "", "serve on HOST:PORT; an empty HOST: all loopback addresses, for many hosts")
	f.StringVar(&o.addresses.DNS, "dns", "", "HOST:PORT of the name server")
	f.StringVar(&o.log, "log", "", "write a JSON line per request to this file")
	f.StringVar(&o.truth, "truth", "", "write a JSON line per URL that a crawl must finish to this file")
	f.IntVar(&o.policy.MaxRedirects, "max-redirects", 10, "for the truth: redirects to follow in a row")
	f.IntVar(&o.policy.Retries, "retries", 2, "for the truth: tries after the first")
	f.StringVar(&o.policy.Agent, "agent", webtest.Agent, "for the truth: product token")
	noRobots := f.Bool("no-robots", false, "for the truth: ignore robots.txt")
	oneHost := f.Bool("seed-host", false, "for the truth: stay on the host of the seed")
	f.Func("elements", "for the truth: elements to follow links in, such as a,area,header", func(s string) error {
		o.policy.Elements = strings.Split(s, ",")
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("argument %q, expected only flags", f.Arg(0))
	}
	o.policy.Robots = !*noRobots
	if !*oneHost {
		o.policy.Scope = webtest.Anywhere
	}
	return o, nil
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.log != "" {
		log, err := os.Create(o.log)
		if err != nil {
			return err
		}
		defer log.Close()
		o.addresses.Log = log
	} else {
		o.addresses.Log = io.Discard
	}
	r, err := webtest.Run(o.web, o.addresses)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if o.truth != "" {
		if err := writeTruth(o.truth, r.Web, o.policy); err != nil {
			return err
		}
	}
	err = json.NewEncoder(stdout).Encode(struct {
		HTTP string `json:"http"`
		DNS  string `json:"dns"`
		Seed string `json:"seed"`
	}{r.Addr.String(), r.DNS.Addr(), r.Web.Home(0)})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func writeTruth(name string, web *webtest.Web, p webtest.Policy) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for url, fate := range web.Truth(p) {
		err := lines.Encode(struct {
			URL string `json:"url"`
			webtest.Fate
		}{url, fate})
		if err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}
