package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/webtest"
)

// TestRun: the command says when it is ready, serves there, and leaves a complete log and the truth
// when it ends.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	log, truth := filepath.Join(dir, "log"), filepath.Join(dir, "truth")
	ctx, stop := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"--pages", "20", "--rates", `{"Missing": 1}`, "--log", log, "--truth", truth}, stdout)
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var ready struct{ HTTP, DNS, Seed string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if !strings.HasPrefix(ready.HTTP, "127.0.0.1:") || ready.Seed != "http://"+ready.HTTP+"/" {
		t.Errorf("ready: %s", line)
	}
	res, err := http.Get(ready.Seed)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for r, err := range webtest.ReadLog(f) {
		if n++; err != nil || r.URL() != ready.Seed || r.Status != 200 {
			t.Errorf("log: %+v, %v", r, err)
		}
	}
	if n != 1 {
		t.Errorf("the log has %d requests, expected 1", n)
	}
	lines, err := os.ReadFile(truth)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"url":"` + ready.Seed + `","status":200}`, `/missing/0","status":404}`, `{"url":"` + ready.Seed + `broken/0","error":"early-end"}`} {
		if !strings.Contains(string(lines), want) {
			t.Errorf("no %s in the truth:\n%s", want, lines)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"x"}, `argument "x", expected only flags`},
		{[]string{"--hosts", "-1"}, "-1 hosts, expected 1 to"},
		{[]string{"--rates", `{"Tigers":1}`}, "Tigers"},
		{[]string{"--rates", `{"Slow":2}`}, "a rate of 2, expected at most 1"},
		{[]string{"--listen", "127.0.0.1:99999"}, "99999"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			err := run(t.Context(), tt.args, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, expected one with %q", err, tt.want)
			}
		})
	}
}
