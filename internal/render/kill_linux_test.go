package render_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	kills := long.Or(6, 100)
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
		_ = cmd.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}[i%3])
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
