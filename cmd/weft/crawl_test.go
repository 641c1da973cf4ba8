package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMain lets the test binary be the command, so that exit codes and signals are
// those of a process.
func TestMain(m *testing.M) {
	if os.Getenv("WEFT_TEST_MAIN") == "1" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// weftCommand is weft with arguments, in an empty folder.
func weftCommand(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "WEFT_TEST_MAIN=1")
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

func site(t *testing.T, pages int) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := range pages {
			fmt.Fprintf(w, `<a href="/%d">%d</a>`, i, i)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestCrawlCommand(t *testing.T) {
	s := site(t, 5)
	cmd, stderr := weftCommand(t, "crawl", "-c", "2", s.URL)
	stdout, err := cmd.Output()
	if err != nil || len(stdout) > 0 {
		t.Fatalf("%v\nstdout: %s\nstderr: %s", err, stdout, stderr)
	}
	jobs, _ := filepath.Glob(filepath.Join(cmd.Dir, "127.0.0.1_*.weft"))
	if len(jobs) != 1 {
		t.Fatalf("job folders: %v", jobs)
	}
	b, err := os.ReadFile(filepath.Join(jobs[0], "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(b)) {
		lines++
		var r struct{ URL string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || !strings.HasPrefix(r.URL, s.URL) {
			t.Errorf("record %q: %v", line, err)
		}
	}
	if lines != 6 || !strings.Contains(stderr.String(), "6 URLs in") || !strings.Contains(stderr.String(), "200: 6") {
		t.Errorf("%d records; report:\n%s", lines, stderr)
	}

	again, stderr := weftCommand(t, "crawl", s.URL)
	again.Dir = cmd.Dir
	if code := exitCode(again.Run()); code != exitUsage || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "--job") {
		t.Errorf("a second crawl into the same folder: exit %d, %q", code, stderr)
	}
}

func TestQuiet(t *testing.T) {
	cmd, stderr := weftCommand(t, "crawl", "-q", site(t, 1).URL)
	if out, err := cmd.Output(); err != nil || len(out)+stderr.Len() > 0 {
		t.Errorf("%v: %s%s", err, out, stderr)
	}
}

// TestMistakes: each is one line on stderr that names what is wrong, and nothing is written.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
		code int
	}{
		"no URL":           {[]string{"crawl"}, "no URL given", exitUsage},
		"no such command":  {[]string{"crwl"}, "crwl", exitUsage},
		"no such flag":     {[]string{"crawl", "--dept", "3", "http://127.0.0.1/"}, "--dept", exitUsage},
		"not a number":     {[]string{"crawl", "-c", "many", "http://127.0.0.1/"}, `"many"`, exitUsage},
		"zero workers":     {[]string{"crawl", "-c", "0", "http://127.0.0.1/"}, "--concurrency 0", exitUsage},
		"negative retries": {[]string{"crawl", "--retries=-1", "http://127.0.0.1/"}, "--retries -1", exitUsage},
		"negative delay":   {[]string{"crawl", "--delay=-1s", "http://127.0.0.1/"}, "--delay -1s", exitUsage},
		"no timeout":       {[]string{"crawl", "--timeout=0s", "http://127.0.0.1/"}, "--timeout 0s", exitUsage},
		"no scheme":        {[]string{"crawl", "example.org"}, `"example.org"`, exitUsage},
		"bad host":         {[]string{"crawl", "http://a b/"}, "http://a b/", exitUsage},
		"escape in URL":    {[]string{"crawl", "foo\x1b[2J"}, `\x1b`, exitUsage},
		"https":            {[]string{"crawl", "https://example.org/"}, "not supported yet", exitUsage},
		"folder":           {[]string{"crawl", "--job", "no/such", "http://127.0.0.1/"}, "no/such", exitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, stderr := weftCommand(t, c.args...)
			code := exitCode(cmd.Run())
			text := stderr.String()
			if code != c.code || !strings.Contains(text, c.want) || strings.Count(text, "\n") != 1 || strings.Contains(text, "\x1b") {
				t.Errorf("exit %d, %q; expected exit %d and one line with %q", code, text, c.code, c.want)
			}
			if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestNothingFetched(t *testing.T) {
	cmd, stderr := weftCommand(t, "crawl", "--retries", "0", "--job", "job", "http://127.0.0.1:1/")
	if code := exitCode(cmd.Run()); code != exitError || !strings.Contains(stderr.String(), "connect: 1") ||
		!strings.Contains(stderr.String(), "http://127.0.0.1:1/: dial tcp 127.0.0.1:1: connect: connection refused") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestInterrupt: the first Ctrl-C lets what is under way finish; the second does not.
func TestInterrupt(t *testing.T) {
	for _, signals := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d times", signals), func(t *testing.T) {
			var once sync.Once
			asked, answer := make(chan bool), make(chan bool)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<a href="/a"></a><a href="/b"></a>`)
				once.Do(func() { close(asked); <-answer })
			}))
			defer s.Close()
			cmd, _ := weftCommand(t, "crawl", "--job", "job", s.URL)
			cmd.Stderr = nil
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-asked
			cmd.Process.Signal(os.Interrupt)
			said := make([]byte, 4096)
			n, _ := stderr.Read(said) // that it finishes what is under way
			if !bytes.Contains(said[:n], []byte("once more")) {
				t.Errorf("after the first signal: %q", said[:n])
			}
			if signals == 1 {
				close(answer)
			} else {
				cmd.Process.Signal(os.Interrupt)
			}
			var rest bytes.Buffer
			rest.ReadFrom(stderr)
			code := exitCode(cmd.Wait())
			if signals == 2 {
				close(answer)
			}
			b, _ := os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
			if want := 2 - signals; code != exitInterrupted || bytes.Count(b, []byte("\n")) != want || !strings.Contains(rest.String(), "interrupted") {
				t.Errorf("exit %d, %d records, expected %d; said %q", code, bytes.Count(b, []byte("\n")), want, &rest)
			}
		})
	}
}

// TestFewDescriptors: more workers than descriptors is a mistake that is told, not a
// crawl that loses URLs.
func TestFewDescriptors(t *testing.T) {
	s := site(t, 200)
	sh := func(args string) (int, string, string) {
		cmd := exec.Command("sh", "-c", "ulimit -n 64; exec "+os.Args[0]+" crawl --job job "+args+" "+s.URL)
		cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
		out, err := cmd.CombinedOutput()
		return exitCode(err), string(out), cmd.Dir
	}
	if code, out, _ := sh("-c 1000"); code != exitUsage || !strings.Contains(out, "descriptor") {
		t.Errorf("1,000 workers with 64 descriptors: exit %d: %s", code, out)
	}
	if code, out, _ := sh(""); code != exitDone || !strings.Contains(out, "200: 201") {
		t.Errorf("the default with 64 descriptors: exit %d: %s", code, out)
	}
}

// TestFullDisk: a record that cannot be written ends the crawl with an error, and
// leaves whole lines.
func TestFullDisk(t *testing.T) {
	s := site(t, 500)
	cmd := exec.Command("sh", "-c", "ulimit -f 8; exec "+os.Args[0]+" crawl --job job "+s.URL) // blocks of 512 bytes
	cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
	out, err := cmd.CombinedOutput()
	b, _ := os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
	if code := exitCode(err); code != exitError || strings.Count(string(out), "file too large") != 1 {
		t.Errorf("exit %d: %s", code, out)
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		t.Errorf("the records end with %q", b[max(0, len(b)-40):])
	}
	said := fmt.Sprintf("%d URLs in", bytes.Count(b, []byte("\n")))
	if !strings.Contains(string(out), said) {
		t.Errorf("%s, the records have another number: %s", said, out)
	}
}
