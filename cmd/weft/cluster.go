package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/cluster/server"
)

func clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cluster COMMAND",
		Short:   "Serve and manage crawls on several machines",
		GroupID: sectionTools,
		Args:    oneCommand,
		RunE:    showHelp,

		SuggestionsMinimumDistance: 2,
		DisableFlagsInUseLine:      true,
	}
	cmd.AddCommand(clusterServeCommand(), listCommand(), removeCommand(), restoreCommand(), collectCommand())
	return cmd
}

func clusterServeCommand() *cobra.Command {
	var o server.Options
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Run a server for crawls on several machines",
		Long: `Run a NATS server with JetStream until it is interrupted. It carries the
messages of the nodes of crawls, and keeps the state of these crawls. It prints
its address once nodes may join: weft crawl --cluster ADDRESS.

One server is enough as long as its machine lives. Of three, any one may fail:
run this command on three machines, with the same --peers.`,
		Annotations: detailed(`
A server that has ended, or was killed, goes on when it is started again with
the same flags. Its name, which is --name or else --listen, belongs to --store.

Without --login, whoever reaches the address may read and change the crawls.

Exit status: 0 interrupted; 1 it cannot run; 3 usage error.`),
		Example: `  weft cluster serve
  weft cluster serve --listen 10.0.0.1 --peers 10.0.0.1,10.0.0.2,10.0.0.3`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE:              func(*cobra.Command, []string) error { return serveStreams(o) },
	}
	define(cmd,
		group{"Addresses", []option{
			{name: "listen", arg: "HOST[:PORT]", Value: to(&o.Listen, some("an address")),
				help: "serve nodes here", def: "127.0.0.1:4222"},
			{name: "peers", arg: "HOST[:PORT],...", Value: to(&o.Peers, commaSeparated),
				help: "be one of these servers", def: "be alone",
				more: "Name all of them, this one too, by their addresses for each other."},
			{name: "listen-peers", arg: "HOST[:PORT]", Value: to(&o.ListenPeers, some("an address")),
				help: "serve the other servers at this address",
				more: "Default: the host of --listen, port 6222."},
			{name: "name", arg: "NAME", Value: to(&o.Name, some("a name")),
				help: "name of this server", def: "what --listen says"},
		}},
		group{"Storage", []option{
			{name: "store", arg: "DIR", Value: to(&o.Store, some("a folder")),
				help: "keep the data in DIR", def: "weft.nats"},
			{name: "max-disk", arg: "SIZE", Value: to(&o.MaxDisk, bytes64),
				help: "use at most SIZE", def: "3/4 of what is free",
				more: "Nodes wait when it is full."},
			{name: "sync", Value: on(&o.Sync), advanced: true,
				help: "sync each message to the disk at once",
				more: "It costs time. By default it is done every second, which matters only when all " +
					"servers lose their power at once."},
		}},
		group{"Security", []option{
			{name: "login", arg: "USER:PASSWORD", Value: to(&o.Login, secretOrFile), secret: true,
				help: "ask nodes and peers for these, or for a token",
				more: "@FILE reads them from a file. Nodes give them in the URL: nats://USER:PASSWORD@HOST or " +
					"nats://TOKEN@HOST."},
			{name: "cert", arg: "FILE", Value: to(&o.Cert, some("a file")),
				help: "speak TLS, with the certificate in FILE (PEM)"},
			{name: "key", arg: "FILE", Value: to(&o.Key, some("a file")),
				help: "the certificate's private key (PEM)"},
			{name: "ca", arg: "FILE", Value: to(&o.CA, some("a file")),
				help: "ask for certificates of these authorities",
				more: "Nodes and peers have to show them. Without it nodes need none, and peers are judged by the system's authorities."},
		}},
	)
	return cmd
}

// bytes64 is size, as an int64.
func bytes64(s string) (int64, error) {
	n, err := size(s)
	return int64(n), err
}

// secretOrFile reads a secret, or @FILE that has one.
func secretOrFile(s string) (string, error) {
	path, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		return some("USER:PASSWORD, a token or @FILE")(s)
	}
	return secretIn(path)
}

// serve runs a server until it is interrupted.
func serveStreams(o server.Options) error {
	if o.Store == "" {
		o.Store = serverStore
	}
	o.Warn = func(text string) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(text)) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, fail := context.WithCancelCause(ctx)
	o.Failed = func() { fail(server.ErrFull) }
	s, err := startWithRoom(ctx, o)
	if ctx.Err() != nil && s == nil { // interrupted
		return nil
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("cluster serve: %w", err)}
	}
	began := time.Now()
	defer func() {
		if !errors.Is(context.Cause(ctx), server.ErrFull) {
			s.Close()
		}
	}()
	switch {
	case o.Login == "" && s.Local():
		o.Warn("without --login, all users of this machine may read and change the crawls")
	case o.Login == "":
		o.Warn("without --login, whoever reaches " + s.URL() + " may read and change the crawls")
	}
	if s.Ready(ctx) != nil { // interrupted
		return nil
	}
	if _, err := io.WriteString(os.Stdout, s.URL()+"\n"); err != nil {
		return standardOutput(err)
	}
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), server.ErrFull) {
		stop() // a signal ends the process from here on
		return serveAnew(&o, time.Since(began))
	}
	return nil
}

// startWithRoom starts a server, once its disk has room.
func startWithRoom(ctx context.Context, o server.Options) (*server.Server, error) {
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for said := false; ; said = true {
		s, err := server.Start(o)
		if !errors.Is(err, server.ErrFull) {
			return s, err
		}
		if !said {
			o.Warn(err.Error() + "; the server waits for it")
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
func serveAnew(o *server.Options, ran time.Duration) error {
	o.Warn(server.ErrFull.Error() + ": the server starts anew when there is room")
	time.Sleep(leastRun - ran)
	path, err := os.Executable()
	if err == nil {
		err = syscall.Exec(path, os.Args, os.Environ()) // #nosec G204 -- this program
	}
	return &exit{exitError, fmt.Errorf("cluster serve: %w", err)}
}
