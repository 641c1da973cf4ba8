// Command webtest serves a synthetic web on this machine's loopback, each host on
// an address of its own in 127.0.0.0/8, with a name server for it, until SIGTERM or
// SIGINT. When it is ready it prints one line:
//
//	{"http":"0.0.0.0:8080","dns":"127.0.0.1:5353","seed":"http://h000000.s000000.test:8080/"}
//
// With one host (the default) the web is on one address and is named by it, so that
// it can be crawled without the name server.
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
	debug.SetGCPercent(400) // answers are garbage and the heap is small: memory for time
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

// options are what the command line says.
type options struct {
	web       webtest.Config
	addresses webtest.Addresses
	policy    webtest.Policy
	log       string
	truth     string
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("webtest", flag.ContinueOnError)
	f.Uint64Var(&o.web.Seed, "seed", 1, "that the web is drawn from")
	f.IntVar(&o.web.Hosts, "hosts", 1, "number of hosts")
	f.IntVar(&o.web.Pages, "pages", 100, "pages of a host, in the mean")
	f.IntVar(&o.web.Links, "links", 8, "links of a page, in the mean")
	f.IntVar(&o.web.PageBytes, "page-bytes", 4096, "bytes of a page, in the mean")
	f.StringVar(&o.web.Domain, "domain", "test", "that all host names end in")
	f.StringVar(&o.web.Host, "name", "", "of the only host; default its address")
	f.DurationVar(&o.web.Latency, "latency", 0, "every answer comes after up to so long")
	f.DurationVar(&o.web.SlowDelay, "slow-delay", 0, "how long slow answers take (default 500ms)")
	f.DurationVar(&o.web.CrawlDelay, "crawl-delay", 0, "where robots.txt asks for one (default 200ms)")
	f.BoolVar(&o.web.Traps, "traps", false, "every host has a calendar without end")
	f.BoolVar(&o.web.Clean, "clean", false, "rates that are not given are 0")
	f.Func("rates", "JSON object, as in {\"Stalled\":0.1,\"DeadHost\":-1}; names as in webtest.Rates", func(s string) error {
		d := json.NewDecoder(strings.NewReader(s))
		d.DisallowUnknownFields()
		return d.Decode(&o.web.Rates)
	})
	f.StringVar(&o.addresses.HTTP, "listen", "", "HOST:PORT to serve on; an empty HOST: all loopback addresses, for many hosts")
	f.StringVar(&o.addresses.DNS, "dns", "", "HOST:PORT of the name server")
	f.StringVar(&o.log, "log", "", "file for a JSON line for each request")
	f.StringVar(&o.truth, "truth", "", "file for a JSON line for each URL that a crawl must finish")
	f.IntVar(&o.policy.MaxRedirects, "max-redirects", 10, "for the truth: followed one after the other")
	f.IntVar(&o.policy.Retries, "retries", 2, "for the truth: tries after the first")
	f.StringVar(&o.policy.Agent, "agent", webtest.Agent, "for the truth: product token")
	noRobots := f.Bool("no-robots", false, "for the truth: robots.txt is not obeyed")
	oneHost := f.Bool("seed-host", false, "for the truth: only the host of the seed is in scope")
	f.Func("elements", "for the truth: whose links are followed, as in a,area,header", func(s string) error {
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
