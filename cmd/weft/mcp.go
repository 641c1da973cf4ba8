package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/mcp"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/serve"
)

// mcpFlags are the options of weft mcp.
type mcpFlags struct {
	client clientFlags
	render bool
}

func mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:     "mcp [flags] [DIR]",
		Short:   "Offer pages and jobs to agents as tools",
		GroupID: sectionTools,
		Long: `Serve the Model Context Protocol on standard input and output. The program of an
agent starts this command, and gets tools that read live pages and, with DIR,
tools that crawl sites and read the jobs in that folder. docs/mcp.md has the
configuration of common programs.`,
		Annotations: detailed(`
No request of an agent leads to a private address, unless you allow it, and what
a page says is marked as untrusted. Crawls are processes of their own, which go
on when this one ends. While weft serve has DIR, there is no tool that crawls.
Schedules, and the crawls of your files and of tokens, are left to weft serve.

Exit status: 0 the input has ended, or interrupted; 1 an error; 3 usage error.`),
		Example: `  weft mcp
  weft mcp --render crawls
  claude mcp add weft -- weft mcp`,
		Args: arguments(0, 1, "folder", "one folder of jobs"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	network := slices.DeleteFunc(f.client.credentialOptions(), func(o option) bool { return o.name == "auth" || o.name == "bearer" })
	f.client.UserAgent = weft.DefaultUserAgent
	network = append(network, f.client.networkOptions()...)
	for i := range network {
		if network[i].name == "allow-private" { // an agent's URLs are those of others
			network[i].help, network[i].more = "let URLs lead to private addresses such as 10.0.0.1", ""
		}
	}
	define(cmd,
		group{"Pages", []option{
			{name: "render", Value: on(&f.render), help: "let agents have Chromium run scripts"},
			f.client.browserOption(),
			f.client.identityOptions()[0],
		}},
		group{"Network", network},
		group{"Timeouts and sizes", f.client.timeoutOptions("16MiB")},
	)
	return cmd
}

func (f *mcpFlags) run(args []string) error {
	o := scrape.Options{Render: f.render}
	var err error
	if o.HTTP, err = f.client.http(); err != nil {
		return err
	}
	o.MaxBody = o.HTTP.MaxBody
	if f.render {
		if o.Browser, err = readyBrowser(f.client.render.Browser); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	web := scrape.New(o)
	tools := mcp.Options{Pages: func(mcp.Client) mcp.Pages { return web }}
	if len(args) > 0 {
		folder, err := f.jobs(args[0], &tools)
		if err != nil {
			return err
		}
		if folder != nil {
			defer folder.Close()
			go folder.Run(context.WithoutCancel(ctx)) // its crawls go on
		}
	}
	if err := mcp.New(tools).ServeStdio(ctx); err != nil {
		return &exit{exitError, fmt.Errorf("mcp: %w", err)}
	}
	return nil
}

// crawlsOfAgents run at a time.
const crawlsOfAgents = 2

// jobs adds the jobs of a folder, and the crawls that are started there. The folder is nil if
// another process starts them.
func (f *mcpFlags) jobs(dir string, o *mcp.Options) (*crawls.Folder, error) {
	var err error
	if o.Jobs, err = mcp.OpenFolder(dir); err != nil {
		return nil, usage("mcp: %w", err)
	}
	usual, err := usualOptions(o.Jobs)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	warn := func(err error) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(err.Error())) }
	folder, err := crawls.Open(o.Jobs, crawls.Options{
		Running: crawlsOfAgents, Asked: true, Warn: warn, Command: carriesOut(self), Visited: visited,
	})
	if errors.Is(err, crawls.ErrInUse) {
		warn(fmt.Errorf("mcp: %.128q: another process starts the crawls there", dir))
		return nil, nil
	}
	if err != nil {
		return nil, &exit{exitError, fmt.Errorf("mcp: %.128q: %w", dir, reason(err))}
	}
	operator := serveFlags{allowPrivate: f.client.AllowPrivate, render: f.render}
	if browser := f.client.render.Browser; browser != "" {
		if usual == nil {
			usual = make(map[string][]string)
		}
		usual["browser"] = []string{browser}
	}
	o.Crawls = mcp.NewCrawls(folder, func(_ mcp.Client, asked map[string][]string) (map[string][]string, error) {
		return operator.plan(usual, asked, serve.Limits{})
	})
	return folder, nil
}
