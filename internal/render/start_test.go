package render_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/render"
)

// scripted returns options with a browser that is lines of shell, in which $n is the number of the
// start, and how often it was started.
func scripted(t *testing.T, lines string) (o render.Options, starts func() int) {
	t.Helper()
	o.Temp = shortTemp(t)
	if err := os.Chmod(o.Temp, 0o777); err != nil {
		t.Fatal(err)
	}
	o.Program = filepath.Join(o.Temp, "browser")
	script := fmt.Sprintf("#!/bin/sh\necho >>%[1]s.starts\nn=$(wc -l <%[1]s.starts)\n%[2]s\n", o.Program, lines)
	// If this process wrote it, children of other tests might have it open, and it could not start.
	write := exec.Command("sh", "-c", `cat >"$0" && chmod 755 "$0"`, o.Program)
	write.Stdin = strings.NewReader(script)
	if err := write.Run(); err != nil {
		t.Fatal(err)
	}
	return o, func() int {
		text, _ := os.ReadFile(o.Program + ".starts")
		return strings.Count(string(text), "\n")
	}
}

// answers is a browser that answers each command, and does nothing: on a busy machine, the first
// start of a real one may crash, which adds to the starts.
const answers = `exec sed -uz 's/{"id":\([0-9]*\),.*/{"id":\1,"result":{}}/' <&3 >&4`

// TestStarts: a browser that has run and ends is started again, three times before that is given
// up for good.
func TestStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		working string      // patterns of the numbers of starts that succeed
		kind    render.Kind // in the end
		starts  int
	}{
		"at the third try": {"1|4", "", 4},
		"never again":      {"1", render.KindStart, 4},
		"never":            {"none", render.KindStart, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, starts := scripted(t, "case $n in "+c.working+") ;; *) exit 1 ;; esac\n"+answers)
			r := render.New(o.Impatient(0, []time.Duration{0, 0}, 0))
			defer r.Close()
			if err := r.Start(t.Context()); (err == nil) != (c.starts > 1) {
				t.Fatal(err)
			}
			r.Kill()
			for range 2 { // the second one starts nothing
				if err := r.Start(t.Context()); (err == nil) != (c.kind == "") || err != nil && render.KindOf(err) != c.kind {
					t.Errorf("%v, expected kind %q", err, c.kind)
				}
			}
			if n := starts(); n != c.starts {
				t.Errorf("%d starts, expected %d", n, c.starts)
			}
		})
	}
}

// TestStartsAgain: a browser that crashes when it is first started, or does not answer, is started
// again, three times at most; one that says why it cannot run is not.
func TestStartsAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first   string // commands of the first starts
		fails   int    // their number
		time    time.Duration
		works   bool
		started int
	}{
		"a crash":       {"kill -SEGV $$", 1, 0, true, 2},
		"no answer":     {"exec sleep 100", 1, 5 * time.Second, true, 2},
		"three crashes": {"kill -SEGV $$", 3, 0, true, 4},
		"four crashes":  {"kill -SEGV $$", 9, 0, false, 4},
		"a status":      {"exit 3", 1, 0, false, 1},
		"a fatal error": {"echo '[1:1:FATAL:x.cc(1)] no sandbox' >&2; kill -TRAP $$", 1, 0, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, starts := scripted(t, fmt.Sprintf("[ $n -gt %d ] || { %s; }\n%s", c.fails, c.first, answers))
			r := render.New(o.Impatient(c.time, nil, 0))
			defer r.Close()
			err := r.Start(t.Context())
			if (err == nil) != c.works || err != nil && render.KindOf(err) != render.KindStart {
				t.Error(err)
			}
			if n := starts(); n != c.started {
				t.Errorf("%d starts, expected %d", n, c.started)
			}
		})
	}
}

// TestOldBrowser: a browser that does not know a method fails the start, named with its version.
func TestOldBrowser(t *testing.T) {
	t.Parallel()
	const old = `exec sed -uz -e 's/{"id":\([0-9]*\),"method":"Browser.getVersion".*/{"id":\1,"result":{"product":"HeadlessChrome\/58"}}/;t' ` +
		`-e 's/{"id":\([0-9]*\),"method":"\([^"]*\)".*/{"id":\1,"error":{"code":-32601,"message":"\2 was not found"}}/' <&3 >&4`
	o, starts := scripted(t, old)
	r := render.New(o)
	defer r.Close()
	err := r.Start(t.Context())
	if err == nil || render.KindOf(err) != render.KindStart || starts() != 1 {
		t.Fatalf("%v, %d starts", err, starts())
	}
	for _, part := range []string{"HeadlessChrome/58", "Fetch.enable", "expected Chromium"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v, expected %s in it", err, part)
		}
	}
}
