package main

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/http1"
)

// groups are the flags of a command, by concern, in the order of its help.
type groups struct {
	cmd  *cobra.Command
	sets []*pflag.FlagSet // each named by its title
}

// group begins a new one, whose flags register defines.
func (g *groups) group(title string, register func(*pflag.FlagSet)) {
	f := pflag.NewFlagSet(title, pflag.ContinueOnError)
	f.SortFlags = false
	register(f)
	g.sets = append(g.sets, f)
	g.cmd.Flags().AddFlagSet(f)
}

// help has the command's help show the groups.
func (g *groups) help() {
	g.cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n", strings.TrimSpace(cmd.Long), cmd.UseLine(), cmd.Example)
		for _, f := range g.sets {
			fmt.Fprintf(w, "\n%s:\n%s", f.Name(), f.FlagUsages())
		}
	})
}

// flag defines one that takes a value. The default is shown as def; where that is
// empty, usage says what holds without the flag.
func flag[T any](f *pflag.FlagSet, to *T, name, short, kind, def string, parse func(string) (T, error), usage string) {
	f.VarP(&value[T]{to, parse, kind, def}, name, short, usage)
}

// repeated defines one that may be given several times.
func repeated[T any](f *pflag.FlagSet, to *[]T, name, short, kind string, parse func(string) (T, error), usage string) {
	f.VarP(&each[T]{to, parse, kind}, name, short, usage)
}

// clientFlags are those of every command that sends requests.
type clientFlags struct {
	http1.Options
	servers       []netip.AddrPort // of names
	allowPrivate  bool
	acceptCookies bool
	proxy         *proxyChoice // nil: as the environment says
}

func (c *clientFlags) register(g *groups) {
	c.UserAgent = weft.DefaultUserAgent
	g.group("Timeouts", func(f *pflag.FlagSet) {
		flag(f, &c.Timeout, "timeout", "", "D", "30s", duration, "for one fetch, all of it")
		flag(f, &c.DialTimeout, "connect-timeout", "", "D", "10s", duration, "for the name and the connection")
		flag(f, &c.TLSTimeout, "tls-timeout", "", "D", "10s", duration, "for the TLS handshake")
		flag(f, &c.FirstByteTimeout, "first-byte-timeout", "", "D", "", duration, "from the request to the answer's first byte (default none of its own)")
		flag(f, &c.IdleTimeout, "idle-timeout", "", "D", "15s", duration, "between two pieces of an answer")
		flag(f, &c.MinRate, "min-rate", "", "SIZE", "", size, "bytes a second below which an answer is given up, once 10 s have passed (default any)")
		flag(f, &c.MaxBody, "max-body", "", "SIZE", "16MiB", size, "largest body, as sent and as decoded")
	})
	g.group("Request", func(f *pflag.FlagSet) {
		repeated(f, (*[]http1.Field)(&c.Header), "header", "H", "'K: V'", headerField, "further field of every request; repeatable (default none)")
		flag(f, &c.UserAgent, "user-agent", "A", "S", weft.DefaultUserAgent, userAgent, "User-Agent to send; robots.txt is read for\nthe name it begins with")
		repeated(f, &c.Resolve, "resolve", "", "HOST:PORT:ADDR[:PORT]", http1.ParseOverride, "where to connect for HOST, or * for any; repeatable (default as names resolve)")
		repeated(f, &c.servers, "dns", "", "ADDR[:PORT]", nameServer, "name server to ask; repeatable, the next if one fails (default the system's)")
		f.BoolVar(&c.allowPrivate, "allow-private", false, "let pages lead to addresses that are not public, such as 127.0.0.1 or 10.0.0.1; behind a proxy\nonly those that stand in a URL can be told (default only where a given URL is at one)")
		f.BoolVarP(&c.Insecure, "insecure", "k", false, "accept any TLS certificate (default they are verified)")
		flag(f, &c.RootCAs, "ca", "", "FILE", "", authorities, "certificates in PEM to trust (default the system's)")
	})
	g.group("Cookies, passwords, proxies", c.registerWho)
}

// consoleFlags say what is told on standard error.
type consoleFlags struct {
	quiet, verbose bool
	format         string
}

func (c *consoleFlags) register(f *pflag.FlagSet) {
	f.BoolVarP(&c.quiet, "quiet", "q", false, "print only errors (default progress, warnings and a report)")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "print a line for each URL (default none)")
	flag(f, &c.format, "log-format", "", "FORMAT", "text", oneOf("text", "json"), "of what is printed on standard error: text or json")
}

func (c *consoleFlags) check() error {
	if c.quiet && c.verbose {
		return usage("--quiet and --verbose: expected one of them")
	}
	return nil
}
