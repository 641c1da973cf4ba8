package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/natslogin"
)

// connection are the options of the connection to the servers, with the logins that weft-nats keeps
// for this user.
func (f *clusterFlags) connection() cluster.Options {
	o := f.Options
	if o.Creds == "" {
		o.Servers = natslogin.With(o.Servers)
	}
	return o
}

// clusterFlags name a crawl of several machines.
type clusterFlags struct{ cluster.Options }

// options returns the flags.
func (f *clusterFlags) options(node bool) []option {
	servers, name := f.servers("a crawl on several machines, in place of JOB"), f.name("with --cluster: the name of the crawl")
	if node {
		servers.help = "crawl together with other machines, by NATS servers"
		servers.more = "Such as nats://HOST:4222. Run the same command on each machine, with a job of its own. weft-nats runs a server: see docs/cluster.md."
		name.help, name.advanced = "with --cluster: join the crawl NAME, or begin it", true
	}
	return append([]option{servers, name}, f.security()...)
}

func (f *clusterFlags) servers(help string) option {
	return option{name: "cluster", arg: "URL,...", Value: to(&f.Servers, someServers), help: help}
}

// runsServers names the programs that run a server, which this one does not.
const runsServers = "weft-nats (go install github.com/weftcrawl/weft/cmd/weft-nats@latest), or any nats-server with JetStream"

// someServers reads the addresses of servers.
func someServers(s string) ([]string, error) {
	all, err := commaSeparated(s)
	if name, _, _ := strings.Cut(s, "@"); name == "embedded" {
		err = errors.New("expected the address of a server, as of " + runsServers)
	}
	return all, err
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
		n, err := cluster.Join(context.Background(), servers, o)
		if now := f.connection().Servers; err != nil && !slices.Equal(now, servers.Servers) {
			servers.Servers = now // the server has made its login meanwhile
			n, err = cluster.Join(context.Background(), servers, o)
		}
		if err != nil {
			return nil, err
		}
		if n.Began() {
			con.say("crawl " + f.Name + " begins: the servers had none of this name")
		}
		return n, nil
	}
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
