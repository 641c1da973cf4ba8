package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestWeb: the command prints where it serves the job, and ends when it is interrupted.
func TestWeb(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(http.ResponseWriter, *http.Request) {})
	dir := crawlArgs(t, exitDone, "--job", "job", s.URL).dir
	cmd, stderr := weftCommand(t, "web", "--listen", "127.0.0.1:0", filepath.Join(dir, "job"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, _ := bufio.NewReader(out).ReadString('\n')
	resp, err := http.Get(strings.TrimSpace(at) + "v1/status")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var status weft.Status
	if err := json.NewDecoder(resp.Body).Decode(&status); err != nil || status.State != weft.JobFinished {
		t.Errorf("%+v, %v", status, err)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr)
	}
	for args, want := range map[string]string{
		"--listen 0.0.0.0:80 none": `weft: --listen "0.0.0.0:80": expected an address of loopback`,
		"none":                     `weft: "none": no job, expected the folder of a job`,
		"":                         "weft: web: 0 arguments given",
	} {
		e := weftRun(t, append([]string{"web"}, strings.Fields(args)...)...)
		if e.code != exitUsage || !strings.HasPrefix(e.stderr, want) {
			t.Errorf("%s: %+v", args, e)
		}
	}
}
