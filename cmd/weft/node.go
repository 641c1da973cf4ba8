package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/cluster/server"
)

// embedded is the value of --cluster for a server in this process; an address may follow it after
// @.
const embedded = "embedded"

// serverStore is the store of a server, unless the user names another.
const serverStore = "weft.nats"

// connection are the options of the connection to the servers, with the logins that those of this
// user keep.
func (f *clusterFlags) connection() cluster.Options {
	o := f.Options
	if o.Creds == "" {
		o.Servers = server.WithLogins(o.Servers, serverStore)
	}
	return o
}

// embeds returns where the server of this process is to listen.
func (f *clusterFlags) embeds() (at string, ok bool) {
	if len(f.Servers) == 0 {
		return "", false
	}
	name, at, _ := strings.Cut(f.Servers[0], "@")
	return at, name == embedded
}

// clusterFlags name a crawl of several machines.
type clusterFlags struct {
	cluster.Options
	server *server.Server  // in this process; nil: none
	failed context.Context // ends when the server has failed
}

// options returns the flags. A node may bring a server along.
func (f *clusterFlags) options(node bool) []option {
	servers, name := f.servers("a crawl on several machines, in place of JOB"), f.name("with --cluster: the name of the crawl")
	if node {
		servers.help = "crawl together with other machines, by NATS servers"
		servers.more = "Such as nats://HOST:4222. Run the same command on each machine, with a job of its own. embedded, or embedded@HOST[:PORT]: run a server in this process until the crawl ends, and let others join there. " +
			"See docs/cluster.md."
		name.help, name.advanced = "with --cluster: join the crawl NAME, or begin it", true
	}
	return append([]option{servers, name}, f.security()...)
}

func (f *clusterFlags) servers(help string) option {
	return option{name: "cluster", arg: "URL,...", Value: to(&f.Servers, commaSeparated), help: help}
}

func (f *clusterFlags) name(help string) option {
	return option{name: "name", arg: "NAME", Value: to(&f.Name, some("a name")), help: help}
}

// security are the flags of what servers and nodes show each other.
func (f *clusterFlags) security() []option {
	return []option{
		{name: "cluster-creds", arg: "FILE", Value: to(&f.Creds, some("a file")), advanced: true, help: "with --cluster: the NATS credentials, or the seed of an NKey, in FILE"},
		{name: "cluster-ca", arg: "FILE", Value: to(&f.CA, some("a file")), advanced: true,
			help: "with --cluster: trust servers with certificates of these authorities (PEM)"},
		{name: "cluster-cert", arg: "FILE", Value: to(&f.Cert, some("a file")), advanced: true, help: "with --cluster: show the certificate in FILE (PEM)"},
		{name: "cluster-key", arg: "FILE", Value: to(&f.Key, some("a file")), advanced: true, help: "with --cluster: its private key (PEM)"},
	}
}

// any reports whether a crawl of several machines is meant.
func (f *clusterFlags) any() bool { return len(f.Servers) > 0 || f.Name != "" }

// named refuses the servers of a crawl without its name, and the name without the servers.
func (f *clusterFlags) named() error {
	switch {
	case f.Name == "":
		return usage("--cluster: expected together with --name NAME, the same on every machine")
	case len(f.Servers) == 0:
		return usage("--name %s: expected together with --cluster, such as nats://HOST:4222", f.Name)
	}
	return nil
}

// check completes the options of a node, if this is to be one. A job that is crawled again is one
// of a single machine.
func (f *clusterFlags) check(o *weft.Options, again bool) error {
	if !f.any() {
		return nil
	}
	err := f.named()
	switch {
	case err != nil:
		return err
	case again || o.Rerun.Fresh || o.Rerun.Amend:
		return usage("--cluster: expected without --update, --fresh, --amend and --retry-failed")
	}
	if _, ok := f.embeds(); ok && len(f.Servers) > 1 {
		return usage("--cluster %s: expected no other server beside it", embedded)
	}
	o.Job = cmp.Or(o.Job, f.Name+".weft")
	return nil
}

// joins returns the opener of a crawl of this process, or of a node of one of several machines.
func (f *clusterFlags) joins(con *console) opener {
	if !f.any() {
		return alone
	}
	return func(o weft.Options) (crawler, error) {
		servers := f.connection()
		servers.Wait = 20 * time.Second // they may be started together
		servers.OnWarning = func(err error) { con.warn(err.Error()) }
		servers.OnChange = func(s cluster.Share) {
			con.say(fmt.Sprintf("crawl %s: %s; this one has %s of %s partitions", f.Name, plural(s.Nodes, "node"), count(s.Partitions), count(s.All)))
		}
		if at, ok := f.embeds(); ok {
			if err := f.serve(con, at); err != nil {
				return nil, &exit{exitError, err}
			}
			servers.Servers = []string{f.server.LoginURL()}
		}
		n, err := cluster.Join(context.Background(), servers, o)
		if err != nil {
			f.close()
			return nil, err
		}
		if n.Began() {
			con.say("crawl " + f.Name + " begins: the servers had none of this name")
		}
		if f.server != nil {
			con.say("others join with --cluster " + f.server.LoginURL() + " --name " + f.Name + confirmed(&o))
		}
		if f.server != nil {
			return &host{n, f.failed}, nil
		}
		return n, nil
	}
}

// host is a node that brings the server along.
type host struct {
	*cluster.Crawl
	failed context.Context
}

// Run ends the node when its server has failed: another process has to start it.
func (h *host) Run(ctx context.Context) (weft.Summary, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(h.failed, stop)()
	s, err := h.Crawl.Run(ctx)
	if h.failed.Err() != nil {
		err = fmt.Errorf("--cluster %s: %w; the same command goes on when there is room", embedded, server.ErrFull)
	}
	return s, err
}

// confirmed are the flags that nodes have to be given, as they do not take them from the servers.
func confirmed(o *weft.Options) string {
	var b strings.Builder
	if o.HTTP.Insecure {
		b.WriteString(" --insecure")
	}
	if o.HTTP.AllowPrivate {
		b.WriteString(" --allow-private")
	}
	for _, one := range o.HTTP.Resolve {
		fmt.Fprintf(&b, " --resolve '%v'", one)
	}
	return b.String()
}

// opener opens a crawl.
type opener func(weft.Options) (crawler, error)

// alone opens a crawl of this process, and no job of a node: that has only some of its crawl's
// sites.
func alone(o weft.Options) (crawler, error) {
	if o.Job == "" || !cluster.IsNode(o.Job) {
		return weft.New(o)
	}
	if o.Rerun.Update || o.Rerun.RetryFailed != nil {
		return nil, fmt.Errorf("%s: the job of a crawl on several machines, expected one that a single machine has crawled", o.Job)
	}
	return nil, fmt.Errorf("%s: the job of a crawl on several machines, expected --cluster and --name, or another folder", o.Job)
}

// serve starts the server of this process.
func (f *clusterFlags) serve(con *console, at string) error {
	var fail context.CancelFunc
	f.failed, fail = context.WithCancel(context.Background())
	s, err := server.Start(server.Options{Store: serverStore, Listen: at, KeepLogin: true, Failed: fail, Warn: func(text string) { con.warn("server: " + text) }})
	if err != nil {
		return fmt.Errorf("--cluster %s: %w", embedded, err)
	}
	f.server = s
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		f.close()
		return errors.New("--cluster " + embedded + ": the server has not started within 10 s")
	}
	return nil
}

// close ends the server of this process. At the end of a crawl it first lets other nodes see that.
func (f *clusterFlags) close() {
	if f.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if f.failed.Err() == nil { // else it ends with the process
		_ = f.server.Deserted(ctx) // who stays longer finds no server
		f.server.Close()
	}
	f.server = nil
}
