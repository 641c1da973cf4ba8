package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestClusterServe: the command prints where it serves, and ends when it is interrupted; what is
// wrong is one line.
func TestClusterServe(t *testing.T) {
	t.Parallel()
	cmd, stderr := weftCommand(t, "cluster", "serve", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, _ := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(at), "nats://127.0.0.1:")
	if !ok {
		t.Errorf("printed %q", at)
	}
	for args, want := range map[string]string{
		"--listen 127.0.0.1:" + address: "weft: cluster serve: 127.0.0.1:" + address + ": in use, expected a free address",
		"--peers a,,b":                  `weft: --peers "a,,b": expected a list such as 10.0.0.1,10.0.0.2,10.0.0.3`,
		"--peers a,b,c":                 "weft: cluster serve: peers a,b,c: expected all servers, this one too: 127.0.0.1:6222",
		"--login @none":                 `weft: --login: "none": no such file or directory, expected a file with the secret`,
		"--max-disk all":                `weft: --max-disk "all": expected a size above 0`,
		"--cert a --key b":              `weft: cluster serve: certificate "a" and key "b": open a: no such file or directory`,
		"x":                             `weft: weft cluster serve: argument "x", expected none`,
	} {
		e := weftRun(t, append([]string{"cluster", "serve"}, strings.Fields(args)...)...)
		if e.code == exitDone || !strings.HasPrefix(e.stderr, want) || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", args, e)
		}
	}
	listsCrawls(t, "nats://127.0.0.1:"+address)
	stopsAtLimit(t, "nats://127.0.0.1:"+address)
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil || stderr.String() != "weft: without --login, all users of this machine may read and change the crawls\n" {
		t.Errorf("%v, %s", err, stderr)
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

// listsCrawls: a crawl that is over is listed, and removed once.
func listsCrawls(t *testing.T, servers string) {
	t.Helper()
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

// stopsAtLimit: what is said of a crawl that a limit has stopped is a command that continues it. It
// is not crawled again.
func stopsAtLimit(t *testing.T, servers string) {
	t.Helper()
	of := "--cluster " + servers + " --name few"
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

// TestEmbeddedLogin: the server that a node brings along lets in who has its login: commands of its
// user in any folder, and whoever has the line that it prints.
func TestEmbeddedLogin(t *testing.T) {
	t.Parallel()
	at := "nats://" + freeAddress(t)
	site := wefttest.NewAsked(t, false, wefttest.Star)
	first, _ := weftCommand(t, "crawl", "--cluster", "embedded@"+strings.TrimPrefix(at, "nats://"), "--name", "docs", "--delay", "1h", "--allow-private", "--job", "one", site.URL)
	join := strings.Fields(saysAfter(t, first, "others join with "))
	if len(join) != 5 || !strings.HasSuffix(join[1], "@"+strings.TrimPrefix(at, "nats://")) || join[4] != "--allow-private" {
		t.Fatalf("%q", join)
	}
	status := func(dir, server string, env ...string) string {
		t.Helper()
		cmd, stderr := weftCommand(t, "status", "--cluster", server, "--name", "docs")
		cmd.Dir, cmd.Env = dir, append(cmd.Env, env...)
		out, _ := cmd.Output()
		return string(out) + stderr.String()
	}
	for place, text := range map[string]string{"the folder": status(first.Dir, at), "another": status(t.TempDir(), at)} {
		if !strings.HasPrefix(text, "docs: running") {
			// It may have partitions to take.
			t.Errorf("in %s: %s", place, text)
		}
	}
	other := "XDG_CACHE_HOME=" + t.TempDir()
	if text := status(t.TempDir(), at, other); !strings.Contains(text, "the servers refuse the login") {
		t.Error(text)
	}
	if text := status(t.TempDir(), join[1], other); !strings.HasPrefix(text, "docs: ") {
		t.Error(text)
	}
	second, _ := weftCommand(t, append([]string{"crawl"}, join...)...)
	second.Env = append(second.Env, other)
	saysAfter(t, second, "crawl docs: 2 nodes")
	if e := weftIn(t, first.Dir, "ctl", "--cluster", at, "--name", "docs", "set", "delay=1ms"); e.code != exitDone {
		t.Errorf("%+v", e)
	}
	for _, node := range []*exec.Cmd{first, second} {
		if err := node.Wait(); err != nil {
			t.Error(err)
		}
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
	together := weftIn(t, t.TempDir(), append(check, "--cluster", "embedded@"+freeAddress(t), "--name", "a", site.URL)...)
	for _, found := range []string{site.URL + "/form\n", "<form action>", site.URL + "/preview.png\n", "<meta content>", "3 URLs"} {
		if !strings.Contains(alone.stdout, found) {
			t.Errorf("no %q alone: %+v", found, alone)
		}
	}
	if together.code != alone.code || together.stdout != alone.stdout {
		t.Errorf("%+v\nalone\n%+v", together, alone)
	}
}

// saysAfter starts a command, and returns what stands behind some words in the first line of its
// messages that has them.
func saysAfter(t *testing.T, cmd *exec.Cmd, words string) string {
	t.Helper()
	cmd.Stderr = nil
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if _, line, ok := strings.Cut(lines.Text(), words); ok {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return line
		}
		all.WriteString(lines.Text() + "\n")
	}
	t.Fatalf("no %q in %s", words, all.String())
	return ""
}
