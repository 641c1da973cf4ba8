package commands_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/mounts"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// looks are commands that look at a job.
var looks = []string{
	"status job", "urls job", "hosts job", "why job %s/", "cat job %s/", "export job -o x.csv", "export job -o x.sqlite", "export job -o - --format jsonl",
	"read job -o -", "read job -o x.jsonl", "read job -o x", "read job %s/", "read --llms-txt job", "extract job --extract t=title",
	"check --no-external job", "mirror --from job -o copy", "wacz job -o x.wacz",
}

// TestReadOnlyJob: to look at a job needs no permission to write to it: on a disk that is mounted
// for reading, of a crawl that has ended as well as of one that was killed and left no index.
func TestReadOnlyJob(t *testing.T) {
	t.Parallel()
	if !mounts.Inside(t) {
		return
	}
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>A page</title><main><p>Some words of text, which are the content of this page.</p></main>")
	})
	for _, killed := range []bool{false, true} {
		e := wefttest.Crawl(t, wefttest.Done, "--warc", "--links", "--job", "job", s.URL)
		if killed {
			if err := os.Remove(filepath.Join(e.Dir, "job/archive/index.cdxj")); err != nil {
				t.Fatal(err)
			}
		}
		mounts.ReadOnly(t, filepath.Join(e.Dir, "job"))
		if err := os.WriteFile(filepath.Join(e.Dir, "job/new"), nil, 0o600); !errors.Is(err, syscall.EROFS) {
			t.Fatalf("%v, expected %v", err, syscall.EROFS)
		}
		for _, line := range looks {
			line = strings.ReplaceAll(line, "%s", s.URL)
			if e := wefttest.In(t, e.Dir, strings.Fields(line)...); e.Code != wefttest.Done {
				t.Errorf("weft %s: exit %d, %s", line, e.Code, e.Stderr)
			}
		}
	}
}

// TestLookWithoutDescriptors: where a process has no descriptor left, a look at a job says so, and
// ends.
func TestLookWithoutDescriptors(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w) })
	dir := wefttest.Crawl(t, wefttest.Done, "--job", "job", s.URL).Dir
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, command := range []string{"status job", "check --no-external job"} {
		refused := 0
		for limit := 4; limit < 24; limit++ {
			of, _ := wefttest.Command(t)
			cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("ulimit -n %d; exec %s %s", limit, of.Path, command))
			cmd.Env, cmd.Dir = of.Env, dir
			out, err := cmd.CombinedOutput()
			if ctx.Err() != nil {
				t.Fatalf("%s with %d descriptors: it hangs", command, limit)
			}
			if strings.Contains(string(out), "too many open files") {
				refused++
			} else if err == nil {
				break
			}
		}
		if refused == 0 {
			t.Errorf("%s: there was always a descriptor", command)
		}
	}
}
