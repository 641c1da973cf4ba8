package render

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStarts: a browser that has run and ends is started again, three times before that is given
// up for good.
func TestStarts(t *testing.T) {
	real, err := Find("")
	if err != nil {
		t.Skip(err)
	}
	pauses := pausesOfStarts
	pausesOfStarts = []time.Duration{0, 0}
	defer func() { pausesOfStarts = pauses }()
	for name, c := range map[string]struct {
		working string // numbers of the starts that succeed
		kind    Kind   // of the second page
		starts  int
	}{
		"at the third try": {"1 4", "", 4},
		"never again":      {"1", KindStart, 4},
		"never":            {"", KindStart, 1},
	} {
		t.Run(name, func(t *testing.T) {
			temp, err := os.MkdirTemp("", "weft-")
			if err == nil {
				err = os.Chmod(temp, 0o777)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(temp)
			program := filepath.Join(temp, "browser")
			script := fmt.Sprintf("#!/bin/sh\necho >>%[1]s.starts\ncase ' %[2]s ' in *\" $(wc -l <%[1]s.starts) \"*) exec %[3]s \"$@\" ;; esac\nexit 1\n", program, c.working, real)
			if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			r := New(Options{Program: program, Temp: temp})
			defer r.Close()
			page := &Page{URL: "http://a.test/", Status: 200, Body: []byte("<p>text")}
			_, err = r.Render(t.Context(), page)
			if (err == nil) != (c.working != "") {
				t.Fatal(err)
			}
			if r.browser != nil {
				r.browser.process.kill()
				<-r.browser.conn.ended
			}
			for range 2 { // the second one starts nothing
				if _, err := r.Render(t.Context(), page); (err == nil) != (c.kind == "") || err != nil && KindOf(err) != c.kind {
					t.Errorf("%v, expected kind %q", err, c.kind)
				}
			}
			if starts, _ := os.ReadFile(program + ".starts"); strings.Count(string(starts), "\n") != c.starts {
				t.Errorf("%d starts, expected %d", strings.Count(string(starts), "\n"), c.starts)
			}
		})
	}
}

// TestStartsAgain: a browser that crashes when it is first started, or does not answer, is started
// once more; one that says why it cannot run is not.
func TestStartsAgain(t *testing.T) {
	real, err := Find("")
	if err != nil {
		t.Skip(err)
	}
	patience := startTime
	defer func() { startTime = patience }()
	for name, c := range map[string]struct {
		first   string // commands of the first starts
		fails   int    // their number
		time    time.Duration
		works   bool
		started int
	}{
		"a crash":       {"kill -SEGV $$", 1, patience, true, 2},
		"no answer":     {"exec sleep 100", 1, 6 * time.Second, true, 2},
		"two crashes":   {"kill -SEGV $$", 9, patience, false, 2},
		"a status":      {"exit 3", 1, patience, false, 1},
		"a fatal error": {"echo '[1:1:FATAL:x.cc(1)] no sandbox' >&2; kill -TRAP $$", 1, patience, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			startTime = c.time
			temp, err := os.MkdirTemp("", "weft-")
			if err == nil {
				err = os.Chmod(temp, 0o777)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(temp)
			program := filepath.Join(temp, "browser")
			script := fmt.Sprintf("#!/bin/sh\necho >>%[1]s.starts\n[ $(wc -l <%[1]s.starts) -gt %[2]d ] || { %[3]s; }\nexec %[4]s \"$@\"\n", program, c.fails, c.first, real)
			if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			r := New(Options{Program: program, Temp: temp})
			defer r.Close()
			_, err = r.Render(t.Context(), &Page{URL: "http://a.test/", Status: 200, Body: []byte("<p>text")})
			if (err == nil) != c.works || err != nil && KindOf(err) != KindStart {
				t.Error(err)
			}
			if starts, _ := os.ReadFile(program + ".starts"); strings.Count(string(starts), "\n") != c.started {
				t.Errorf("%d starts, expected %d", strings.Count(string(starts), "\n"), c.started)
			}
		})
	}
}
