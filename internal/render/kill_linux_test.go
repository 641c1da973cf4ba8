package render_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/render"
)

// TestKills: whoever renders is killed at some moment; no process of the browser and no file of it
// stays. A child says when it has begun, and goes on until it is killed.
func TestKills(t *testing.T) {
	t.Parallel()
	if temp := os.Getenv("WEFT_TEST_KILLED"); temp != "" {
		r := render.New(render.Options{Temp: temp, Tabs: 2})
		fmt.Println("begun")
		for {
			d, err := r.Render(context.Background(), page("http://a.test/", "<p id=p>x<script>setInterval(() => p.append('y'), 100)</script>", nil))
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println("rendered", len(d.HTML))
		}
	}
	renderer(t, 1)
	kills := long.Or(4, 100)
	for i := range kills {
		temp := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKills$")
		cmd.Env = append(os.Environ(), "WEFT_TEST_KILLED="+temp)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + i%4 { // before the browser starts, and after some pages
			lines.Scan()
		}
		wait := time.After(time.Duration(i) * 7 * time.Millisecond) // into what comes next
		<-wait
		_ = cmd.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[i%2])
		_ = cmd.Wait()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			left, _ := filepath.Glob(filepath.Join(temp, "*"))
			running := withArgument(temp)
			if len(left) == 0 && len(running) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("kill %d: left %q, processes %v", i, left, running)
			}
		}
	}
}

// TestOrphans: a full browser's handlers of crashes are no children of it, and one that traces a
// page while that is killed waits for ever. It ends with the browser.
func TestOrphans(t *testing.T) {
	t.Parallel()
	path, err := render.Find("")
	if err != nil {
		t.Skip(err)
	}
	o, _ := scripted(t, `
(cd "$TMPDIR" && mkfifo never && cp /bin/sh chrome_crashpad_handler &&
	setsid ./chrome_crashpad_handler -c 'read line <never' "$@" 3<&- 4>&- & )
exec `+path+` "$@"`)
	r := render.New(o)
	defer r.Close()
	if _, err := r.Render(t.Context(), page(u, "<p>text", nil)); err != nil {
		t.Fatal(err)
	}
	if all := withArgument("read line <never"); len(all) == 0 {
		t.Fatal("no handler")
	}
	r.Close()
	gone(t, o.Temp)
}

// gone waits until no process has a text in its command line.
func gone(t *testing.T, text string) {
	t.Helper()
	var running []int
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() {
		if running = withArgument(text); len(running) == 0 {
			return
		}
	}
	t.Errorf("processes %v with %s", running, text)
}

// withArgument returns the processes that have a text in their command line, but for this one.
func withArgument(text string) (all []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if command, err := os.ReadFile(path); err == nil && pid != os.Getpid() && strings.Contains(string(command), text) {
			all = append(all, pid)
		}
	}
	return all
}
