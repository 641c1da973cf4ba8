package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/replay"
)

func replayCommand() *cobra.Command {
	listen := netip.MustParseAddrPort("127.0.0.1:8080")
	cmd := &cobra.Command{
		Use:   "replay [flags] JOB|FILE...",
		Short: "Serve archived sites to a browser on this machine",
		Long: `Serve the pages of an archive to a browser on this machine: they look and link
as they did, and nothing is requested from the Web. Print the address to open,
and serve until interrupted.`,
		Annotations: detailed(`
JOB is the folder of a crawl with an archive; FILE is WARC, ARC or WACZ. Several
are served as one.

Pages run in a sandbox: they can load from this server only, and have no
cookies. URLs that scripts put together may lead nowhere: docs/replay.md.

Exit status: 0 interrupted; 1 an archive cannot be read, or the address is in
use; 3 usage error.`),
		Example: `  weft replay example.org.weft
  weft replay --listen 127.0.0.1:0 crawl.wacz`,
		GroupID: sectionTools,
		Args:    arguments(1, math.MaxInt, "archive", "a JOB, or WARC, ARC or WACZ files"),
		RunE:    func(_ *cobra.Command, args []string) error { return serve(args, listen) },
	}
	define(cmd, group{"Server", []option{
		{name: "listen", arg: "IP:PORT", def: "127.0.0.1:8080", Value: to(&listen, loopback),
			help: "serve at this loopback address",
			more: "Port 0 takes any that is free."},
	}})
	return cmd
}

// loopback reads an address that only this machine can reach.
func loopback(s string) (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(strings.Replace(s, "localhost:", "127.0.0.1:", 1))
	if err != nil || !addr.Addr().IsLoopback() {
		return addr, errors.New("expected an address of loopback and a port, such as 127.0.0.1:8080")
	}
	return addr, nil
}

func serve(paths []string, at netip.AddrPort) error {
	a, err := archive.Open(paths...)
	if err != nil {
		return &exit{exitError, fmt.Errorf("replay: %w", err)}
	}
	defer a.Close()
	report := func(err error) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(err.Error())) }
	for _, damage := range a.Damage {
		report(damage)
	}
	listener, err := net.Listen("tcp", at.String())
	if err != nil {
		return &exit{exitError, fmt.Errorf("replay: %w", err)}
	}
	name := filepath.Base(filepath.Clean(paths[0]))
	server := &http.Server{
		Handler: replay.New(a, name, report), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // of connections that end early
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { server.Close() })
	if _, err := fmt.Printf("http://%s/\n", listener.Addr()); err != nil {
		return standardOutput(err)
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return &exit{exitError, fmt.Errorf("replay: %w", err)}
	}
	return nil
}
