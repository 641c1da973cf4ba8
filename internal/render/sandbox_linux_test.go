package render_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/render"
)

// TestSandbox: where a sandbox can be, no process of root's browser is root's, its pages are in
// Chromium's sandbox, and it has no secret of the environment.
func TestSandbox(t *testing.T) {
	path, err := render.Find("")
	if err != nil {
		t.Skip(err)
	}
	text, isThere := render.Sandbox(path, "")
	t.Log(text)
	r := anyRenderer(t, "") // no other test does at this time
	if _, err := r.Render(t.Context(), page("http://a.test/", "x", nil)); err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, pid := range r.Processes() {
		folder := fmt.Sprintf("/proc/%d/", pid)
		command, _ := os.ReadFile(folder + "cmdline")
		status, err := os.ReadFile(folder + "status")
		if err != nil || strings.HasPrefix(string(command), "/bin/sh\x00-c") { // it has ended; the keeper
			continue
		}
		if isThere && os.Geteuid() == 0 && regexp.MustCompile(`(?m)^Uid:\s+0\b`).Match(status) {
			t.Errorf("root's: %q", command)
		}
		if environment, _ := os.ReadFile(folder + "environ"); strings.Contains(string(environment), "secret") {
			t.Errorf("%q has all of the environment", command)
		}
	}
	for _, pid := range renderers(r.Processes()) {
		pages++
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); isThere && err == nil && !strings.Contains(string(status), "Seccomp:\t2") {
			t.Errorf("a renderer without filters of system calls: %s", status)
		}
	}
	if pages == 0 {
		t.Error("no renderer")
	}
}

// renderers returns the processes of pages that descend from one of some.
func renderers(of []int) (all []int) {
	for _, pid := range withArgument("--type=renderer") {
		for parent := pid; parent > 1; {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", parent))
			parent = 0
			if _, after, ok := strings.Cut(string(status), "PPid:\t"); ok {
				fmt.Sscan(after, &parent)
			}
			if slices.Contains(of, parent) {
				all = append(all, pid)
				break
			}
		}
	}
	return all
}

// TestNoSandbox: where root's browser cannot be nobody's, it says why, and renders.
func TestNoSandbox(t *testing.T) {
	t.Parallel()
	path, err := render.Find("")
	if err != nil {
		t.Skip(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root's browser runs as another user")
	}
	temp := filepath.Join(shortTemp(t), "mine")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if reason, _ := render.Sandbox(path, temp); !strings.Contains(reason, "that user may not enter "+temp) {
		t.Errorf("reason %q", reason)
	}
	r := render.New(render.Options{Program: path, Temp: temp})
	defer r.Close()
	if d, err := r.Render(t.Context(), page("http://a.test/", "<p>text", nil)); err != nil || !strings.Contains(d.HTML, "text") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestRecycled: while memory is scarce, the process of a page ends with the page.
func TestRecycled(t *testing.T) {
	t.Parallel()
	path, err := render.Find("")
	if err != nil {
		t.Skip(err)
	}
	temp := shortTemp(t)
	r := render.New(render.Options{Program: path, Temp: temp, Tabs: 1, Memory: 420 << 20})
	defer r.Close()
	shown := func(html string) []int {
		p := page("http://a.test/", html, nil)
		p.Fetch = slow(1500 * time.Millisecond) // the browser is looked at meanwhile
		if d, err := r.Render(t.Context(), p); err != nil || d.Cut != "" {
			t.Fatalf("%+v, %v", d, err)
		}
		return renderers(withArgument(temp))
	}
	const large = "<p>x<script>const all = []; for (let i = 0; i < 26; i++) all.push(new Uint8Array(10 << 20).fill(1)); fetch('/')</script>"
	kept := shown("<p>x")
	if again := shown("<p>y"); !slices.ContainsFunc(again, func(pid int) bool { return slices.Contains(kept, pid) }) {
		t.Fatalf("renderers %v, then %v: expected the same for small pages", kept, again)
	}
	after := shown(large)
	for range 2 {
		after = shown("<p>z")
	}
	for _, pid := range kept {
		if slices.Contains(after, pid) {
			t.Errorf("renderers %v, and %v after a large page", kept, after)
		}
	}
}
