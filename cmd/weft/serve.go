package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/config"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/firecrawl"
	"github.com/weftcrawl/weft/internal/pattern"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/serve"
	"github.com/weftcrawl/weft/internal/webhook"
)

// serveFlags are the options of weft serve.
type serveFlags struct {
	at           netip.AddrPort
	hosts        []string
	cert, key    string
	plain        bool
	running      int
	allowPrivate bool
	render       bool
	tokens       tokenFlags
}

// tokenFlags make, list and remove tokens.
type tokenFlags struct {
	add, remove string
	list        bool
	rights      []serve.Right
	limits      serve.Limits
}

func serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve [flags] [DIR]",
		Short:   "Serve crawls to programs and browsers",
		GroupID: sectionTools,
		Long: `Run crawls for programs, over HTTP, and for people, in a browser. The crawls and
their results are kept in DIR, by default ./weft-crawls.`,
		Annotations: detailed(`
Each crawl is a process of its own, weft crawl. If weft serve is killed, its
crawls go on, and the next weft serve of DIR takes them over. If it is
interrupted, it interrupts its crawls, and the next one resumes them.

A request can set the options that /v1/openapi.json lists, and no URL leads to a
private address. Everything else is yours: the table [crawl] of DIR/weft.toml
has the defaults of requested crawls and single pages, and a file DIR/NAME.toml
with such a table is a crawl of yours, with its own options alone.

On loopback, programs of this machine need no token until there is one. Any
other address requires a token, and TLS or --plain-http.

Exit status: 0 interrupted; 1 DIR is in use or cannot be read, or the address
is in use; 3 usage error.`),
		Example: `  weft serve
  weft serve --add-token me --rights all crawls
  weft serve --listen 0.0.0.0:9339 --host crawls.example.org \
    --tls-cert cert.pem --tls-key key.pem crawls`,
		Args: arguments(0, 1, "folder", "one folder of crawls"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, group{"Server", f.serverOptions()}, group{"Crawls", f.crawlOptions()}, group{"Tokens", f.tokens.options()})
	return cmd
}

func (f *serveFlags) serverOptions() []option {
	f.at = netip.MustParseAddrPort("127.0.0.1:9339")
	return []option{
		{name: "listen", arg: "IP:PORT", def: f.at.String(), Value: to(&f.at, netip.ParseAddrPort),
			help: "serve at this address", more: "Port 0 takes any that is free."},
		{name: "host", arg: "NAME", Value: appended(&f.hosts, some("a name, such as crawls.example.org")),
			help: "answer to this name, too; repeatable"},
		{name: "tls-cert", arg: "FILE", Value: to(&f.cert, some("a FILE")), help: "serve HTTPS with the certificate in FILE"},
		{name: "tls-key", arg: "FILE", Value: to(&f.key, some("a FILE")), help: "private key of the certificate"},
		{name: "plain-http", Value: on(&f.plain), help: "serve HTTP beyond loopback, behind a server with TLS"},
	}
}

func (f *serveFlags) crawlOptions() []option {
	f.running = 4
	return []option{
		{name: "crawls", arg: "N", def: "4", Value: to(&f.running, number(1)), help: "run N crawls at a time; others wait",
			more: "Crawls of the same host run one at a time."},
		{name: "allow-private", Value: on(&f.allowPrivate), help: "let URLs lead to private addresses such as 10.0.0.1"},
		{name: "render", Value: on(&f.render), help: "let requests have Chromium run scripts"},
	}
}

func (f *tokenFlags) options() []option {
	return []option{
		{name: "add-token", arg: "NAME", Value: to(&f.add, some("a NAME")), help: "create a token, print it once, and exit",
			more: "It replaces a token of the same name."},
		{name: "rights", arg: "RIGHTS", def: "read,write,fetch", Value: to(&f.rights, rights), help: "its rights, or all",
			more: "read: see its crawls; write: start, steer and delete them; fetch: request single pages; others: extend read and write to the crawls of other tokens, and yours."},
		{name: "max-crawls", arg: "N", Value: to(&f.limits.Crawls, number(1)), help: "let the token run N crawls at a time"},
		{name: "max-pages", arg: "N", Value: to(&f.limits.Pages, number(1)), help: "limit each of its crawls to N URLs"},
		{name: "max-rate", arg: "N", Value: to(&f.limits.Rate, rate), help: "limit each of its crawls to N requests per second"},
		{name: "max-memory", arg: "SIZE", Value: to(&f.limits.Memory, size), help: "limit each of its crawls to SIZE of memory"},
		{name: "max-queued", arg: "N", Value: to(&f.limits.Queued, number(1)), help: "let N crawls of the token wait"},
		{name: "max-disk", arg: "SIZE", Value: to(&f.limits.Disk, size), help: "limit all its crawls together to SIZE of disk"},
		{name: "max-fetches", arg: "N", Value: to(&f.limits.Fetches, number(1)), help: "let the token fetch N single pages at a time"},
		{name: "remove-token", arg: "NAME", Value: to(&f.remove, some("a NAME")), help: "remove a token, and exit"},
		{name: "tokens", Value: on(&f.list), help: "list the tokens, and exit"},
	}
}

// rights reads --rights.
func rights(s string) (all []serve.Right, err error) {
	for word := range strings.SplitSeq(s, ",") {
		right, err := oneOf(append(slices.Clone(serve.Rights), "all")...)(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		if right == "all" {
			return serve.Rights, nil
		}
		all = append(all, right)
	}
	return all, nil
}

// usualFolder is that of crawls if none is named.
const usualFolder = "weft-crawls"

func (f *serveFlags) run(args []string) error {
	dir := usualFolder
	if len(args) > 0 {
		dir = args[0]
	}
	if err := f.tokens.check(); err != nil {
		return err
	}
	if holdsJob(dir) {
		return usage("serve: %.128q: a job, expected a folder of crawls: weft web shows a job", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &exit{exitError, fmt.Errorf("serve: %.128q: %w", dir, reason(err))}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	tokens, err := serve.OpenTokens(dir)
	if err != nil {
		return &exit{exitError, fmt.Errorf("serve: %w", err)}
	}
	if f.tokens.any() {
		return f.tokens.run(tokens)
	}
	usual, err := usualOptions(dir)
	if err != nil {
		return err
	}
	if err := f.guarded(tokens); err != nil {
		return err
	}
	listener, err := f.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	limitGarbage() // a call leaves 350 KB of it, mostly buffers of the SDK that reads its JSON
	return f.serve(dir, listener, tokens, usual)
}

// guarded refuses an address beyond loopback that anybody may use.
func (f *serveFlags) guarded(tokens *serve.Tokens) error {
	if (f.cert == "") != (f.key == "") {
		return usage("--tls-cert and --tls-key: expected both or none")
	}
	beyond := !f.at.Addr().IsLoopback()
	// What has a name beside those of loopback is served by another server to other machines.
	if !beyond && len(f.hosts) == 0 {
		return nil
	}
	all, err := tokens.List()
	switch {
	case err != nil:
		return &exit{exitError, fmt.Errorf("serve: %w", err)}
	case len(all) == 0 && !beyond:
		return usage("--host %.128q: for others than this machine, expected a token: --add-token makes one", f.hosts[0])
	case len(all) == 0:
		return usage("--listen %s: beyond this machine, expected a token: --add-token makes one", f.at)
	case beyond && f.cert == "" && !f.plain:
		return usage("--listen %s: beyond this machine, expected --tls-cert and --tls-key, or --plain-http behind a server that has TLS", f.at)
	}
	tokens.Require()
	return nil
}

func (f *serveFlags) listen() (net.Listener, error) {
	if f.cert == "" {
		return listen("serve", f.at)
	}
	certificate, err := serve.LoadCertificate(f.cert, f.key, warnServe)
	if err != nil {
		return nil, usage("--tls-cert %.128q: %w", f.cert, reason(err))
	}
	listener, err := listen("serve", f.at)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{GetCertificate: certificate.Get, NextProtos: []string{"h2", "http/1.1"}}), nil
}

// warnServe tells the operator what goes wrong beside any request.
func warnServe(err error) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(err.Error())) }

// serve serves until it is interrupted.
func (f *serveFlags) serve(dir string, listener net.Listener, tokens *serve.Tokens, usual map[string][]string) error {
	manager := newNotifier() // before any crawl starts, which would have it, too
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder, err := crawls.Open(dir, crawls.Options{
		Running: f.running, Warn: warnServe,
		Limits: func(by string) crawls.Limits {
			l := tokens.LimitsOf(by)
			return crawls.Limits{Running: l.Crawls, Queued: l.Queued, Disk: int64(l.Disk)}
		},
		Command: carriesOut(self), Visited: visited,
		Compare: compares(self), Notice: notice,
	})
	if errors.Is(err, crawls.ErrInUse) {
		return &exit{exitError, fmt.Errorf("serve: %.128q: another weft serve has it", dir)}
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("serve: %.128q: %w", dir, reason(err))}
	}
	defer folder.Close()
	scraper, err := f.scraper(usual)
	if err != nil {
		return err
	}
	settings := callerOptions()
	server := serve.New(serve.Options{
		Crawls: folder, Tokens: tokens, Hosts: f.hosts, Settable: settings, Scraper: scraper, Report: reporter(),
		Plan: func(asked map[string][]string, l serve.Limits) (map[string][]string, error) {
			return f.plan(usual, asked, l)
		},
	})
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	defer stop()
	scheme := "http"
	if f.cert != "" {
		scheme = "https"
	}
	if _, err := fmt.Printf("%s://%s/\n", scheme, listener.Addr()); err != nil {
		return standardOutput(err)
	}
	manager.tell("READY=1")
	defer manager.repeat(func() string { return howMany(folder) })()
	failed := make(chan error, 1)
	go func() { failed <- serve.Serve(ctx, listener, server); stop() }()
	go webhook.Run(ctx, folder, webhook.Options{
		HTTP: scraper.HTTP, Warn: warnServe, Held: server.Answers(), Forms: map[string]webhook.Form{firecrawl.HookForm: firecrawl.Deliveries(folder, scraper)},
	})
	ended := make(chan struct{})
	go func() { folder.Run(ctx); close(ended) }()
	<-ctx.Done()
	manager.tell("STOPPING=1") // its crawls take a while to end
	<-ended
	if err := <-failed; err != nil {
		return &exit{exitError, fmt.Errorf("serve: %w", err)}
	}
	return nil
}

// howMany counts the crawls of a folder. Of one whose loop is stuck it does not return.
func howMany(f *crawls.Folder) string {
	n := make(map[crawls.State]int)
	for _, c := range f.List(func(c *crawls.Crawl) bool { return !c.State.Ended() }) {
		n[c.State]++
	}
	return fmt.Sprintf("%s running, %s queued", plural(n[crawls.Running], "crawl"), count(n[crawls.Queued]))
}

// carriesOut returns the command that carries out a crawl of a folder.
func carriesOut(self string) func(crawls.Run) []string {
	return func(r crawls.Run) []string {
		args := []string{self, "crawl", "--config", r.Plan, "--log-format", "json", "--log-interval", "1m"}
		switch {
		case r.Next:
			return append(args, "--update", r.Job)
		case r.Retry == nil:
			return append(args, "--job", r.Job)
		}
		args = append(args, "--retry-failed", r.Job)
		if r.Retry.Error != "" {
			args = append(args, "--error", r.Retry.Error)
		}
		if r.Retry.Status != "" {
			args = append(args, "--status", r.Retry.Status)
		}
		return args
	}
}

// visited reads how far the job of a crawl is.
func visited(dir string) (crawls.Visited, error) {
	ctx := context.Background()
	job, err := weft.OpenJob(ctx, dir)
	if err != nil {
		return crawls.Visited{}, err
	}
	defer job.Close()
	status, err := job.Status(ctx)
	if err != nil {
		return crawls.Visited{}, err
	}
	whole := status.State == weft.JobFinished || status.State == weft.JobStopped && slices.Contains(status.Reasons, "limit")
	return crawls.Visited{Visit: max(1, status.Visit), Whole: whole}, nil
}

// usualOptions are those of the table [crawl] of the operator's weft.toml.
func usualOptions(dir string) (map[string][]string, error) {
	path := filepath.Join(dir, configFile)
	text, err := readAtMost(path, mostConfig)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage("%.128q: %w", path, reason(err))
	}
	options, err := config.Parse(text)
	if err != nil {
		return nil, usage("%.128q: %w", path, err)
	}
	_, flags := planned()
	usual := make(map[string][]string)
	for _, o := range options {
		if o.Command != "crawl" || o.Profile != "" {
			continue
		}
		flag := flags.Lookup(o.Name)
		if flag == nil || o.Name == "job" {
			return nil, usage("%.128q: line %d: %s: no option of crawls that are served", path, o.Line, o.Name)
		}
		if err := set(flag, o); err != nil {
			return nil, usage("%.128q: line %d: %w", path, o.Line, err)
		}
		usual[o.Name] = o.Values
	}
	return usual, nil
}

// scraper fetches single pages as crawls with the operator's options request theirs.
func (f *serveFlags) scraper(usual map[string][]string) (*scrape.Scraper, error) {
	crawl, flags := planned()
	for name, values := range usual {
		if err := set(flags.Lookup(name), config.Option{Name: name, Values: values, List: len(values) != 1}); err != nil {
			return nil, err
		}
	}
	if err := crawl.check(&crawl.options); err != nil {
		return nil, err
	}
	o := scrape.Options{HTTP: crawl.options.HTTP, MaxBody: crawl.options.HTTP.MaxBody, Render: f.render}
	if f.allowPrivate {
		o.HTTP.AllowPrivate = true
	}
	if f.render {
		var err error
		if o.Browser, err = readyBrowser(crawl.client.render.Browser); err != nil {
			return nil, err
		}
	}
	return scrape.New(o), nil
}

// planned is weft crawl without any option set.
func planned() (*crawlFlags, *pflag.FlagSet) {
	f, cmd := new(crawlFlags), new(cobra.Command)
	define(cmd, f.groups()...)
	return f, cmd.Flags()
}

// usualMemory is that of a crawl that is served.
const usualMemory = 256 << 20

// mostPattern is the highest cost of a caller's expressions together: about 5 MB.
const mostPattern = 100_000

// rendering are the options of callers for which pages are rendered.
var rendering = map[string]bool{"render": true, "wait": true, "scroll": true, "screenshot": true, "pdf": true}

// plan returns the options of a crawl: the operator's, and the requested ones within limits.
func (f *serveFlags) plan(usual, asked map[string][]string, l serve.Limits) (map[string][]string, error) {
	all := maps.Clone(usual)
	if all == nil {
		all = make(map[string][]string)
	}
	crawl, flags := planned()
	room := pattern.Room(mostPattern)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		flag := flags.Lookup(name)
		if flag == nil {
			return nil, fmt.Errorf("%.64s: no option of weft crawl", name)
		}
		if !optionOf(flag).caller {
			return nil, fmt.Errorf("%.64s: only the operator sets it", name)
		}
		if rendering[name] && !f.render {
			return nil, fmt.Errorf("%.64s: pages are not rendered here: the operator's --render lets them", name)
		}
		if optionOf(flag).arg == "RE" {
			if err := room.Take(asked[name]...); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		all[name] = asked[name]
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := set(flags.Lookup(name), config.Option{Name: name, Values: all[name], List: len(all[name]) != 1}); err != nil {
			return nil, err
		}
	}
	if err := crawl.check(&crawl.options); err != nil {
		return nil, err
	}
	for _, bound := range []struct {
		name     string
		has, may float64
		usual    float64
	}{
		{"limit", float64(crawl.options.Limits.Limit), float64(l.Pages), 0},
		{"rate-limit", crawl.options.Pace.RateLimit, l.Rate, 0},
		{"memory", float64(crawl.options.Memory), float64(l.Memory), usualMemory},
	} {
		switch {
		case bound.may > 0 && bound.has > bound.may:
			return nil, fmt.Errorf("%s: beyond the limit of the token: %g", bound.name, bound.may)
		case bound.has > 0:
		case bound.may > 0 && (bound.usual == 0 || bound.usual > bound.may):
			all[bound.name] = []string{strconv.FormatFloat(bound.may, 'f', -1, 64)}
		case bound.usual > 0:
			all[bound.name] = []string{strconv.FormatFloat(bound.usual, 'f', -1, 64)}
		}
	}
	all["distrust"] = []string{"true"}
	if f.allowPrivate {
		all["allow-private"] = []string{"true"}
	}
	return all, nil
}

// callerOptions are the options that somebody who asks for a crawl may set.
func callerOptions() (all []serve.Setting) {
	for _, g := range new(crawlFlags).groups() {
		for _, o := range g.options {
			if !o.caller {
				continue
			}
			kind := "string"
			switch {
			case o.arg == "":
				kind = "boolean"
			case o.arg == "N":
				kind = "number"
			}
			all = append(all, serve.Setting{Name: o.name, Help: strings.TrimSpace(cmp.Or(o.help, o.more)), Kind: kind, Many: o.Type() == "stringArray", Words: o.words})
		}
	}
	return all
}

func (f *tokenFlags) any() bool { return f.add != "" || f.remove != "" || f.list }

// check refuses rights and limits that are of no token: those of a server would be nobody's.
func (f *tokenFlags) check() error {
	of := limitFlags(f.limits)
	if f.rights != nil {
		of = append([]string{"--rights"}, of...)
	}
	if len(of) > 0 && f.add == "" {
		name, _, _ := strings.Cut(of[0], " ")
		return usage("%s: expected together with --add-token: it is of a token", name)
	}
	return nil
}

// limitFlags are the flags that give a token its limits.
func limitFlags(l serve.Limits) (all []string) {
	for _, limit := range []struct {
		name string
		n    float64
		unit string
	}{
		{"--max-crawls", float64(l.Crawls), ""}, {"--max-pages", float64(l.Pages), ""}, {"--max-rate", l.Rate, ""},
		{"--max-memory", float64(l.Memory) / (1 << 20), "MiB"}, {"--max-fetches", float64(l.Fetches), ""},
		{"--max-queued", float64(l.Queued), ""}, {"--max-disk", float64(l.Disk) / (1 << 20), "MiB"},
	} {
		if limit.n > 0 {
			all = append(all, limit.name+" "+strconv.FormatFloat(limit.n, 'f', -1, 64)+limit.unit)
		}
	}
	return all
}

// run changes or lists the tokens.
func (f *tokenFlags) run(tokens *serve.Tokens) error {
	switch {
	case f.add != "":
		if f.rights == nil {
			f.rights = serve.OwnRights
		}
		text, err := tokens.Add(f.add, f.rights, f.limits)
		if err != nil {
			return usage("--add-token %.64q: %w", f.add, err)
		}
		_, err = fmt.Println(text)
		return standardOutput(err)
	case f.remove != "":
		had, err := tokens.Remove(f.remove)
		switch {
		case err != nil:
			return &exit{exitError, fmt.Errorf("serve: %w", err)}
		case !had:
			return usage("--remove-token %.64q: there is no such token", f.remove)
		}
		return nil
	}
	all, err := tokens.List()
	if err != nil {
		return &exit{exitError, fmt.Errorf("serve: %w", err)}
	}
	for _, t := range all {
		var rights []string
		for _, r := range t.Rights {
			rights = append(rights, string(r))
		}
		words := append([]string{t.Name, strings.Join(rights, ","), t.Created.Format("2006-01-02")}, limitFlags(t.Limits)...)
		if _, err := fmt.Println(strings.Join(words, "  ")); err != nil {
			return standardOutput(err)
		}
	}
	return nil
}
