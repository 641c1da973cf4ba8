package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/replay"
)

// replayFlags are the flags of weft replay.
type replayFlags struct {
	listen netip.AddrPort
	proxy  bool
	date   time.Time
	ca     string
}

func replayCommand() *cobra.Command {
	f := &replayFlags{}
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

With --proxy, nothing is rewritten: a browser that is set to use this server as
its proxy finds each archived URL at its place, and no other. For https it has
to trust the certificate whose file is printed, which is good for 30 days. Use
a browser profile of its own, and keep replay-ca-key.pem secret: whoever has it
can pose as any site to a browser that trusts the certificate. A key that comes
with an archive is not used.

Exit status: 0 interrupted; 1 an archive cannot be read, or the address is in
use; 3 usage error.`),
		Example: `  weft replay example.org.weft
  weft replay --listen 127.0.0.1:0 crawl.wacz
  weft replay --proxy --date 2026 example.org.weft`,
		GroupID: sectionTools,
		Args:    arguments(1, math.MaxInt, "archive", "a JOB, or WARC, ARC or WACZ files"),
		RunE:    func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, group{"Server", []option{
		listenOption(&f.listen, "127.0.0.1:8080"),
	}}, group{"Proxy", []option{
		{name: "proxy", Value: on(&f.proxy), help: "serve as an HTTP proxy"},
		{name: "date", arg: "DATE", def: "the latest", Value: to(&f.date, replay.ParseDate),
			help: "serve captures nearest to a date",
			more: "Up to 14 digits from the year on, in UTC, such as 20261122."},
		{name: "ca", arg: "DIR", def: "~/.config/weft", Value: to(&f.ca, some("a DIR")),
			help: "keep certificate and key there",
			more: "The default is in XDG_CONFIG_HOME, if that is set. Only you may write to DIR."},
	}})
	return cmd
}

func (f *replayFlags) run(paths []string) error {
	if !f.proxy && (f.ca != "" || !f.date.IsZero()) {
		return usage("--ca and --date need --proxy")
	}
	a, err := archive.Open(paths...)
	if err != nil {
		return &exit{exitError, fmt.Errorf("replay: %w", err)}
	}
	defer a.Close()
	report := func(err error) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(err.Error())) }
	for _, damage := range a.Damage {
		report(damage)
	}
	listener, err := listen("replay", f.listen)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pages := replay.New(a, filepath.Base(filepath.Clean(paths[0])), report)
	handler := http.Handler(pages)
	ready := fmt.Sprintf("http://%s%s\n", listener.Addr(), pages.Root())
	if f.proxy {
		ca, err := f.authority()
		if err != nil {
			return &exit{exitError, fmt.Errorf("replay: %w", err)}
		}
		for _, path := range paths {
			if key := replay.KeyIn(folderOf(path)); key != "" && filepath.Dir(key) != filepath.Dir(ca.File) {
				report(fmt.Errorf("%s: not used, as who has given you the archive knows it: remove it, and trust no certificate of it", key))
			}
		}
		proxy := replay.NewProxy(pages, f.date, ca)
		defer proxy.Close()
		handler = proxy
		ready = fmt.Sprintf("proxy        http://%s\ncertificate  %s\npublic key   %s\n", listener.Addr(), printable(ca.File), ca.PublicKey())
	}
	if _, err := fmt.Print(ready); err != nil {
		return standardOutput(err)
	}
	if err := replay.Serve(ctx, listener, handler); err != nil {
		return &exit{exitError, fmt.Errorf("replay: %w", err)}
	}
	return nil
}

// authority opens the authority that the user has, whatever is replayed.
func (f *replayFlags) authority() (*replay.Authority, error) {
	dir := f.ca
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("%w, expected --ca DIR for certificate and key", err)
		}
		dir = filepath.Join(config, "weft")
	}
	return replay.OpenAuthority(dir, time.Now())
}

// folderOf returns the folder of a job, or where a file is.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}
