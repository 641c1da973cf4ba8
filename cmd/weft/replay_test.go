package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReplay: the command prints where it serves, and ends when it is interrupted.
func TestReplay(t *testing.T) {
	good, _ := anArchive(t)
	cmd, stderr := weftCommand(t, "replay", "--listen", "127.0.0.1:0", "good.warc.gz")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "good.warc.gz"), good, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at, _ := bufio.NewReader(out).ReadString('\n')
	resp, err := http.Get(strings.TrimSpace(at) + "mp_/https://example.org/again")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "a page") {
		t.Errorf("%s %s", resp.Status, body)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr)
	}
	for args, want := range map[string]string{
		"none":                        "weft: replay: open none: no such file or directory",
		"--listen 0.0.0.0:80 none":    `weft: --listen "0.0.0.0:80": expected an address of loopback`,
		"--listen example.org:1 none": `weft: --listen "example.org:1": expected an address of loopback`,
		"":                            "weft: weft replay: 0 archives given",
	} {
		e := weftRun(t, append([]string{"replay"}, strings.Fields(args)...)...)
		if e.code == exitDone || !strings.HasPrefix(e.stderr, want) {
			t.Errorf("%s: %+v", args, e)
		}
	}
}
