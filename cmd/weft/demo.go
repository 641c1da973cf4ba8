package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
)

func demoCommand() *cobra.Command {
	var console consoleFlags
	var job string
	web := webtest.Config{
		Seed: 1, Pages: 100,
		Latency: 60 * time.Millisecond, SlowDelay: 200 * time.Millisecond, // so that there is something to see
		Rates: webtest.Rates{Flaky: -1}, // none that is overloaded: each would hold the host for seconds
	}
	cmd := &cobra.Command{
		Use:   "demo [flags]",
		Short: "Crawl a small made-up site, without a network",
		Long: `Demo serves a synthetic site on an address of this machine, with redirects,
loops, dead links, errors and broken answers, and crawls it: in two or three
seconds, with some of each. Without --job it writes nothing.

Exit status: as that of weft crawl.`,
		Example: `  weft demo
  weft demo -v --pages 50 --job demo`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := console.check(); err != nil {
				return err
			}
			return demo(web, job, newConsole(console, ""))
		},
	}
	g := &groups{cmd: cmd}
	g.group("Site", func(f *pflag.FlagSet) {
		flag(f, &web.Seed, "seed", "", "N", "1", anyNumber, "that the site is drawn from")
		flag(f, &web.Pages, "pages", "", "N", "100", number(1), "pages it has")
	})
	g.group("Output", func(f *pflag.FlagSet) {
		flag(f, &job, "job", "", "DIR", "", some("a folder"), "folder for the records and the state of the crawl (default none)")
		console.register(f)
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

func demo(web webtest.Config, job string, con *console) (err error) {
	site, err := webtest.Run(web, webtest.Addresses{})
	if err != nil {
		return &exit{exitError, fmt.Errorf("demo: %w", err)}
	}
	defer func() {
		if closed := site.Close(); closed != nil && err == nil {
			err = &exit{exitError, fmt.Errorf("demo: %w", closed)}
		}
	}()
	home := site.Web.Home(0)
	out := &output{}
	c, err := con.begin(weft.Options{
		Seeds: []string{home}, Job: job, Hooks: con.hooks(),
		PerHost: 16, Timeout: 500 * time.Millisecond, Retries: 1, // some of its answers never end
	}, out)
	if err != nil {
		return &exit{exitUsage, byFlag(err, false)}
	}
	kept := ""
	if job == "" {
		kept = "; --job DIR keeps the records"
	}
	con.warn(fmt.Sprintf("crawling %s, a site of %s drawn from the number %d%s", home, plural(web.Pages, "page"), web.Seed, kept))
	return con.crawl(c, out, false)
}
