package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
)

func demoCommand() *cobra.Command {
	var console consoleFlags
	var job string
	web := webtest.Config{
		Seed: 1, Pages: 100,
		Latency: 60 * time.Millisecond, SlowDelay: 200 * time.Millisecond, // slow enough to watch
		Rates: webtest.Rates{Flaky: -1}, // no overloaded host: each would stall for seconds
	}
	cmd := &cobra.Command{
		Use:     "demo [flags]",
		Short:   "Crawl a small generated site, without a network",
		GroupID: sectionCrawl,
		Long: `Serve a generated site on this machine, with redirects, loops, dead links,
errors and broken responses, and crawl it in two or three seconds. Nothing is
written without --job. The exit status is that of weft crawl.`,
		Example: `  weft demo
  weft demo -v --pages 50 --job demo`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(*cobra.Command, []string) error {
			if err := console.check(); err != nil {
				return err
			}
			return demo(web, job, newConsole(console, ""))
		},
	}
	define(cmd,
		group{"Site", []option{
			{name: "seed", arg: "N", Value: to(&web.Seed, anyNumber),
				help: "generate the site from the number N", def: "1"},
			{name: "pages", arg: "N", Value: to(&web.Pages, number(1)),
				help: "generate N pages", def: "100"},
		}},
		group{"Output", append([]option{
			{name: "job", arg: "DIR", Value: to(&job, some("a folder")),
				help: "keep records and state in DIR"},
		}, console.options()...)},
	)
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
	c, err := con.start(weft.Options{
		Seeds: []string{home}, Job: job, Hooks: con.hooks(),
		Pace: weft.Pace{PerHost: 16, Retries: 1}, // some of its responses never end
		HTTP: weft.HTTP{Timeout: 500 * time.Millisecond},
	}, out, alone)
	if err != nil {
		return &exit{exitUsage, byFlag(err, naming{flag: "job", dir: job, command: "weft crawl"})}
	}
	kept := ""
	if job == "" {
		kept = "; --job DIR keeps the records"
	}
	con.say(fmt.Sprintf("crawling %s, a generated site of %s (--seed %d)%s",
		home, plural(web.Pages, "page"), web.Seed, kept))
	_, err = con.crawl(c, out, false)
	return err
}
