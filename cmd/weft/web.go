package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/live"
	"github.com/weftcrawl/weft/internal/loopback"
)

func webCommand() *cobra.Command {
	var at netip.AddrPort
	cmd := &cobra.Command{
		Use:   "web [flags] JOB",
		Short: "Show a job in a browser, and steer its crawl there",
		Long: `Serve a page about a job to a browser on this machine: the progress of its crawl
and what it waits for, its hosts, URLs, errors and pages, and orders to steer
it. Print the address to open, and serve until interrupted.`,
		Annotations: detailed(`
The crawl need not run, and may start or end meanwhile. Whoever knows the
address, which differs each time, can steer the crawl. docs/jobs.md lists the
paths of the data, for programs.

Exit status: 0 interrupted; 1 the job cannot be read, or the address is in use;
3 usage error or no job.`),
		Example: `  weft web example.org.weft
  weft web --listen 127.0.0.1:0 example.org.weft`,
		GroupID:           sectionJob,
		Args:              jobArguments("JOB", 1),
		ValidArgsFunction: completeFirst(completeJob),
		RunE:              func(_ *cobra.Command, args []string) error { return web(args[0], at) },
	}
	define(cmd, group{"Server", []option{listenOption(&at, "127.0.0.1:9338")}})
	return cmd
}

func web(job string, at netip.AddrPort) error {
	if err := inJob(job, func(context.Context, *weft.Job) error { return nil }); err != nil {
		return err
	}
	listener, err := listen("web", at)
	if err != nil {
		return err
	}
	stepBack() // behind the crawl
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := live.New(job, "")
	if _, err := fmt.Printf("http://%s%s\n", listener.Addr(), server.Root()); err != nil {
		return standardOutput(err)
	}
	if err := loopback.Serve(ctx, listener, server); err != nil {
		return &exit{exitError, fmt.Errorf("web: %w", err)}
	}
	return nil
}
