package main

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/natsserver"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// natsServer runs a server of NATS until the test ends, and returns its address.
func natsServer(t *testing.T) string {
	t.Helper()
	s, err := natsserver.Start(natsserver.Options{Store: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.URL()
}

// TestNoServer: the command has no server in it, and says which program is one.
func TestNoServer(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"cluster serve":                                   "cluster serve: a program of its own, expected ",
		"cluster serve --listen 10.0.0.1":                 "cluster serve: a program of its own, expected ",
		"crawl --cluster embedded --name a http://a.test": `--cluster "embedded": expected the address of a server, as of `,
		"status --cluster embedded@10.0.0.1 --name a":     `--cluster "…@10.0.0.1": expected the address of a server, as of `,
	} {
		e := weftRun(t, strings.Fields(args)...)
		if e.code != exitUsage || e.stderr != "weft: "+want+runsServers+"\n" {
			t.Errorf("%s: %+v", args, e)
		}
	}
}

// TestClusterAbsent: a crawl that finds no server fails with the status of an error, since it may
// succeed later; one whose options are wrong with that of a usage error.
func TestClusterAbsent(t *testing.T) {
	_, err := cluster.Dial(t.Context(), cluster.Options{Servers: []string{"127.0.0.1:1"}, Name: "a"})
	for want, err := range map[int]error{exitError: err, exitUsage: cluster.ErrOver} {
		var e *exit
		if !errors.As(new(crawlFlags).refused(err, naming{}, false), &e) || e.code != want {
			t.Errorf("%v: %+v, expected status %d", err, e, want)
		}
	}
}

// TestNodeTable: the table of nodes fits into 80 columns, except for their names.
func TestNodeTable(t *testing.T) {
	var out strings.Builder
	n := cluster.NodeStatus{State: "leaving", Partitions: 1024, Started: 1024, Done: 9_999_999, PerSecond: 9999, Pending: 99_999_999, InFlight: 10_000, Outbox: 999_999, Name: "m1:a"}
	writeCluster(&out, cluster.Status{Partitions: 1024, Nodes: []cluster.NodeStatus{n}})
	_, text, _ := strings.Cut(out.String(), "\n\n")
	for line := range strings.Lines(text) {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestClusterList: a crawl that is over is listed, and removed once.
func TestClusterList(t *testing.T) {
	t.Parallel()
	servers := natsServer(t)
	crawlArgs(t, exitDone, "--cluster", servers, "--name", "some", wefttest.NewAsked(t, false, wefttest.Star).URL)
	for _, step := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"list --json --cluster " + servers, exitDone, `{"name":"some","state":"over","nodes":0,"pages":4,`, ""},
		{"list --cluster " + servers, exitDone, "STATE     NODES       PAGES  BEGUN", ""},
		{"remove --name some --cluster " + servers, exitDone, "", ""},
		{"remove --name some --force --cluster " + servers, exitError, "", "weft: crawl some: there is no such crawl\n"},
		{"list --json --cluster " + servers, exitDone, "", ""},
		{"list", exitUsage, "", "weft: cluster list: expected --cluster, such as nats://HOST:4222\n"},
		{"remove", exitUsage, "", "weft: cluster remove: expected --cluster, such as nats://HOST:4222, and --name\n"},
	} {
		e := weftRun(t, append([]string{"cluster"}, strings.Fields(step.args)...)...)
		if e.code != step.code || !strings.HasPrefix(e.stdout, step.stdout) || (e.stdout == "") != (step.stdout == "") || e.stderr != step.stderr {
			t.Errorf("%s: %+v", step.args, e)
		}
	}
}

// TestClusterLimit: what is said of a crawl that a limit has stopped is a command that continues
// it. It is not crawled again.
func TestClusterLimit(t *testing.T) {
	t.Parallel()
	of := "--cluster " + natsServer(t) + " --name few"
	dir := crawlArgs(t, exitLimit, append(strings.Fields(of), "--limit", "2", wefttest.NewAsked(t, false, wefttest.Star).URL)...).dir
	for args, want := range map[string]string{
		"status " + of:                  "few: stopped by --limit 2; weft crawl --cluster with a higher limit continues it\n",
		"status few.weft":               "few.weft: stopped by --limit, weft crawl --cluster resumes it\n",
		"crawl " + of:                   "weft: crawl few: the crawl has reached a limit: --limit 2, expected a higher one to continue it\n",
		"crawl --job few.weft":          "weft: few.weft: the job of a crawl on several machines, expected --cluster and --name, or another folder\n",
		"crawl --update few.weft":       "weft: few.weft: the job of a crawl on several machines, expected one that a single machine has crawled\n",
		"urls " + of:                    "weft: crawl few: no node runs, and what its nodes have done is in their folders: ",
		"crawl --render x.test " + of:   "weft: --render \"auto\": expected never in a crawl on several machines\n",
		"crawl --update few.weft " + of: "weft: --cluster: expected without --update, --fresh, --amend and --retry-failed\n",
	} {
		if e := weftIn(t, dir, strings.Fields(args)...); !strings.HasPrefix(e.stdout+e.stderr, want) {
			t.Errorf("%s: %+v", args, e)
		}
	}
	if e := weftIn(t, dir, "cluster", "collect", "-o", "all", "few.weft", "few.weft"); e.code != exitUsage || e.stderr != "weft: cluster collect: few.weft: named twice, expected each folder once\n" {
		t.Errorf("%+v", e)
	}
	if e := weftIn(t, dir, "cluster", "collect", "-o", "all", "few.weft"); e.code != exitDone || e.stderr != "" {
		t.Errorf("%+v", e)
	}
	if e := weftIn(t, dir, "urls", "all"); e.code != exitUsage || !strings.HasPrefix(e.stderr, `weft: "all": has results and no state, `) {
		t.Errorf("%+v", e)
	}
}

// TestCheckCluster: a check on several machines requests what one on a single machine does: where
// forms are sent, and images of previews.
func TestCheckCluster(t *testing.T) {
	t.Parallel()
	site := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<title>a</title>\n<meta property=og:image content=/preview.png>\n<form action=/form></form>")
	})
	check := strings.Fields("check -q --job one")
	alone := weftIn(t, t.TempDir(), append(check, site.URL)...)
	together := weftIn(t, t.TempDir(), append(check, "--cluster", natsServer(t), "--name", "a", site.URL)...)
	for _, found := range []string{site.URL + "/form\n", "<form action>", site.URL + "/preview.png\n", "<meta content>", "3 URLs"} {
		if !strings.Contains(alone.stdout, found) {
			t.Errorf("no %q alone: %+v", found, alone)
		}
	}
	if together.code != alone.code || together.stdout != alone.stdout {
		t.Errorf("%+v\nalone\n%+v", together, alone)
	}
}
