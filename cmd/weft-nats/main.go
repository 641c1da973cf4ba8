// Command weft-nats runs a NATS server for crawls on several machines.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/natslogin"
	"github.com/weftcrawl/weft/internal/natsserver"
)

// Exit codes, those of weft.
const (
	exitError = 1
	exitUsage = 3
)

//go:embed help.txt
var help string

func main() {
	var o natsserver.Options
	text, err := parse(os.Args[1:], &o)
	code := exitUsage
	if err == nil {
		code = exitError
		if err = say(text); text == "" {
			err = serve(o)
		}
	}
	if err != nil {
		warn(err.Error())
		os.Exit(code)
	}
}

// flags returns those of options: help.txt explains them.
func flags(o *natsserver.Options) *pflag.FlagSet {
	f := pflag.NewFlagSet("weft-nats", pflag.ContinueOnError)
	f.Usage = func() {} // main prints it
	text := func(to *string, name, expected string) {
		f.Func(name, "", func(s string) error {
			if *to = s; s == "" {
				return errors.New("expected " + expected)
			}
			return nil
		})
	}
	text(&o.Listen, "listen", "an address")
	text(&o.ListenPeers, "listen-peers", "an address")
	text(&o.Name, "name", "a name")
	o.Store = natslogin.Store
	text(&o.Store, "store", "a folder")
	text(&o.Cert, "cert", "a file")
	text(&o.Key, "key", "a file")
	text(&o.CA, "ca", "a file")
	f.BoolVar(&o.Sync, "sync", false, "")
	f.Func("peers", "", func(s string) error { return list(&o.Peers, s) })
	f.Func("max-disk", "", func(s string) error { return size(&o.MaxDisk, s) })
	f.Func("login", "", func(s string) error { return secret(&o.Login, s) })
	f.Bool("version", false, "")
	return f
}

// parse reads the arguments. It returns what is to be printed in place of running a server.
func parse(args []string, o *natsserver.Options) (printed string, err error) {
	f := flags(o)
	err = f.Parse(args)
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return help, nil
	case errors.As(err, &invalid) && invalid.GetFlag().Name == "login":
		err = fmt.Errorf("--login: %w", invalid.Unwrap())
	case errors.As(err, &invalid):
		err = fmt.Errorf("--%s %.128q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	case errors.As(err, &unknown):
		err = fmt.Errorf("%w, expected one that weft-nats --help lists", err)
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("argument %.128q, expected none", f.Arg(0))
	case err == nil && f.Changed("version"):
		return versionLine(), nil
	}
	return "", err
}

// list reads names between commas.
func list(to *[]string, s string) error {
	*to = nil // a flag that is given again counts alone
	for one := range strings.SplitSeq(s, ",") {
		if one = strings.TrimSpace(one); one == "" {
			return errors.New("expected a list such as 10.0.0.1,10.0.0.2,10.0.0.3")
		}
		*to = append(*to, one)
	}
	return nil
}

// size reads a number of bytes.
func size(to *int64, s string) error {
	n, err := humanize.ParseBytes(s)
	if *to = int64(n); err != nil || *to <= 0 {
		return errors.New("expected a size above 0, such as 512MiB or 100GB")
	}
	return nil
}

// secret reads a login, or @FILE that has one.
func secret(to *string, s string) error {
	path, isFile := strings.CutPrefix(s, "@")
	if isFile {
		text, err := os.ReadFile(path)
		var e *os.PathError
		if errors.As(err, &e) {
			return fmt.Errorf("%.128q: %w, expected a file with the secret", path, e.Err)
		}
		s = strings.TrimRight(string(text), "\r\n")
	}
	if *to = s; s == "" {
		return errors.New("expected USER:PASSWORD, a token or @FILE")
	}
	return nil
}

// versionLine tells a build from others.
func versionLine() string {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	return fmt.Sprintf("weft-nats %s (NATS %s, %s %s/%s)\n", version, natsserver.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// serve runs a server until it is interrupted.
func serve(o natsserver.Options) error {
	o.Warn = warn
	o.KeepLogin = o.Login == "" && len(o.Peers) == 0 // peers have to have one login
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, fail := context.WithCancelCause(ctx)
	o.Failed = func() { fail(natsserver.ErrFull) }
	s, err := startWithRoom(ctx, o)
	if ctx.Err() != nil && s == nil { // interrupted
		return nil
	}
	if err != nil {
		return err
	}
	began := time.Now()
	defer func() {
		if !errors.Is(context.Cause(ctx), natsserver.ErrFull) {
			s.Close()
		}
	}()
	switch {
	case o.KeepLogin:
		warn("whoever else joins needs the login in " + natslogin.File(o.Store))
	case o.Login == "":
		warn("without --login, whoever reaches " + s.URL() + " may read and change the crawls")
	}
	if s.Ready(ctx) != nil { // interrupted
		return nil
	}
	if err := say(s.URL() + "\n"); err != nil {
		return err
	}
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), natsserver.ErrFull) {
		stop() // a signal ends the process from here on
		return serveAnew(time.Since(began))
	}
	return nil
}

// startWithRoom starts a server, once its disk has room.
func startWithRoom(ctx context.Context, o natsserver.Options) (*natsserver.Server, error) {
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for said := false; ; said = true {
		s, err := natsserver.Start(o)
		if !errors.Is(err, natsserver.ErrFull) {
			return s, err
		}
		if !said {
			warn(err.Error() + "; the server waits for it")
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// leastRun is the least time between two starts of a server whose disk fills up again and again.
const leastRun = 10 * time.Second

// serveAnew has a new process take the place of this one, whose server may be stuck in its store.
func serveAnew(ran time.Duration) error {
	warn(natsserver.ErrFull.Error() + ": the server starts anew when there is room")
	time.Sleep(leastRun - ran)
	path, err := os.Executable()
	if err == nil {
		err = syscall.Exec(path, os.Args, os.Environ()) // #nosec G204 -- this program
	}
	return err
}

// say prints to standard output.
func say(text string) error {
	_, err := io.WriteString(os.Stdout, text)
	var e *os.PathError
	if errors.As(err, &e) {
		err = fmt.Errorf("standard output: %w", e.Err)
	}
	return err
}

// warn prints a line, in which what a terminal does not print is replaced: peers may have sent it.
func warn(text string) {
	fmt.Fprintln(os.Stderr, "weft-nats: "+strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text))
}
