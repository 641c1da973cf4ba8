package crawls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shell returns the command of crawls that a line of shell stands for: $1 is the plan, $2 the job.
func shell(line string) func(Run) []string {
	return func(r Run) []string { return []string{"/bin/sh", "-c", line, "sh", r.Plan, r.Job} }
}

// opened opens a folder, and runs its crawls until the test ends.
func opened(t *testing.T, dir string, o Options) (f *Folder, end func()) {
	t.Helper()
	o.Warn = func(err error) { t.Log(err) }
	f, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { f.Run(ctx); close(done) }()
	ended := false
	end = func() {
		if !ended {
			ended = true
			cancel()
			<-done
			f.Close()
		}
	}
	t.Cleanup(end)
	return f, end
}

// until waits for a crawl to be in a state.
func until(t *testing.T, f *Folder, name string, states ...State) Crawl {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := f.Await(ctx, name, func(c *Crawl) bool { return slices.Contains(states, c.State) })
	if err != nil || ctx.Err() != nil {
		t.Fatalf("%s: %+v, %v, expected %s", name, c, err, states)
	}
	return c
}

func asked(t *testing.T, f *Folder, a Ask) Crawl {
	t.Helper()
	c, _, err := f.Add(a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOutcomes: the exit status of its process says what became of a crawl.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Crawl{
		"exit 0": {State: Done},
		"exit 4": {State: Limited},
		"exit 5": {State: Stopped},
		`echo '{"level":"INFO","msg":"x"}'; echo '{"level":"ERROR","msg":"no seed"}'; exit 1`: {State: Failed, Message: "no seed"},
		"echo weft: no such option; exit 3":                                                   {State: Failed, Message: "no such option"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			f, _ := opened(t, t.TempDir(), Options{Command: shell(line)})
			c := until(t, f, asked(t, f, Ask{Seeds: []string{"https://a.test/"}}).Name, Done, Limited, Stopped, Failed)
			if c.State != want.State || c.Message != want.Message || c.Ended.IsZero() {
				t.Errorf("%+v, expected %+v", c, want)
			}
		})
	}
}

// TestOptions: a crawl has its URLs and options in a file that nobody else can read.
func TestOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, _ := opened(t, dir, Options{Command: shell(`cat "$1" >"$2.seen"`)})
	c := asked(t, f, Ask{Seeds: []string{"https://a.test/\"'\n"}, Options: map[string][]string{"depth": {"3"}, "exclude": {"a", "b"}}})
	until(t, f, c.Name, Done)
	text, err := os.ReadFile(f.Job(c.Name) + ".seen")
	if want := "[crawl]\ndepth = '3'\nexclude = ['a', 'b']\nurls = [\"https://a.test/\\\"'\\n\"]\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v, expected %s", text, err, want)
	}
	for _, kind := range []string{".toml", ".json", ".log"} {
		if info, err := os.Stat(filepath.Join(dir, c.Name+kind)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", kind, info, err)
		}
	}
}

// TestRunning: so many crawls run at a time, of one user and of all, and of one host one.
func TestRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	most := map[string]int{"busy": 1}
	f, _ := opened(t, dir, Options{Running: 3, Limits: func(by string) Limits { return Limits{Running: most[by]} }, Command: shell(`until [ -e "$2.end" ]; do sleep 0.02; done`)})
	var all []Crawl
	for _, a := range []struct{ by, seed string }{{"busy", "a"}, {"busy", "b"}, {"", "c"}, {"", "c"}, {"", "d"}, {"", "e"}} {
		all = append(all, asked(t, f, Ask{By: a.by, Seeds: []string{"https://" + a.seed + ".test/"}}))
	}
	for _, i := range []int{0, 2, 4} {
		until(t, f, all[i].Name, Running)
	}
	f.look()
	for i, want := range map[int]Wait{1: {For: ForToken}, 3: {For: ForHost, Crawl: all[2].Name}, 5: {For: ForCrawls}} {
		c, _ := f.Get(all[i].Name)
		if w := f.Waits(&c); c.State != Queued || w == nil || *w != want {
			t.Errorf("%d is %s and waits for %+v, expected %+v", i, c.State, w, want)
		}
	}
	end := func(i int) {
		if err := os.WriteFile(f.Job(all[i].Name)+".end", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	end(0)
	until(t, f, all[1].Name, Running)
	end(2)
	until(t, f, all[3].Name, Running)
	for i := range all {
		end(i)
		until(t, f, all[i].Name, Done)
	}
}

// TestSameKey: the same request with the same key is the same crawl, also when the folder is opened
// again; another with it is an error; the key of another is another.
func TestSameKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Command: shell("exit 0")}
	f, end := opened(t, dir, o)
	a := Ask{Seeds: []string{"https://a.test/"}, By: "me", Key: "k", Digest: "d"}
	first := asked(t, f, a)
	until(t, f, first.Name, Done)
	end()
	f, _ = opened(t, dir, o)
	if again, fresh, err := f.Add(a); err != nil || fresh || again.Name != first.Name {
		t.Errorf("%+v, new %t, %v", again, fresh, err)
	}
	other := a
	other.Digest = "e"
	if _, _, err := f.Add(other); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	a.By = "you"
	if again, fresh, err := f.Add(a); err != nil || !fresh || again.Name == first.Name {
		t.Errorf("%+v, new %t, %v", again, fresh, err)
	}
}

// TestStopResumeDelete: a crawl is stopped, goes on, and goes with all its files.
func TestStopResumeDelete(t *testing.T) {
	t.Parallel()
	f, _ := opened(t, t.TempDir(), Options{Command: shell("exec sleep 100")})
	c := asked(t, f, Ask{Seeds: []string{"https://a.test/"}})
	for range 2 {
		until(t, f, c.Name, Running)
		if _, err := f.Stop(c.Name); err != nil {
			t.Fatal(err)
		}
		until(t, f, c.Name, Stopped)
		if _, err := f.Resume(c.Name); err != nil {
			t.Fatal(err)
		}
	}
	until(t, f, c.Name, Running)
	if err := f.Delete(c.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(c.Name); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	gone(t, f, c.Name)
}

// gone fails the test unless all files of a crawl go.
func gone(t *testing.T, f *Folder, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		f.mu.Lock()
		news, is := f.news, f.all[name] != nil
		f.mu.Unlock()
		if !is {
			break
		}
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
	if files, _ := filepath.Glob(f.path(name, "*")); len(files) > 0 {
		t.Error(files)
	}
}

// TestCrashes: a crawl whose process is killed is started again, and not for ever.
func TestCrashes(t *testing.T) {
	t.Parallel()
	f, _ := opened(t, t.TempDir(), Options{Command: shell(`[ -e "$2.crashed" ] && exit 0; touch "$2.crashed"; kill -KILL $$`)})
	c := asked(t, f, Ask{Seeds: []string{"https://a.test/"}})
	if c = until(t, f, c.Name, Done, Failed); c.State != Done {
		t.Errorf("%+v", c)
	}
	e := &entry{Crawl: Crawl{Name: c.Name, Crashes: mostCrashes - 1}}
	f.mu.Lock()
	f.crashed(e, errors.New("killed"))
	f.mu.Unlock()
	if e.State != Failed || e.Message != "killed" {
		t.Errorf("%+v", e.Crawl)
	}
}

// TestTakenOver: a crawl whose process outlives the one that started it is not started once more,
// and its end is seen.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Command: shell(`echo start >>"$2.starts"; until [ -e "$2.end" ]; do sleep 0.02; done`)}
	first, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	c := asked(t, first, Ask{Seeds: []string{"https://a.test/"}})
	first.look()                          // it starts
	if err := first.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	f, _ := opened(t, dir, o)
	until(t, f, c.Name, Running)
	f.look()
	f.look()
	if c, _ := f.Get(c.Name); c.State != Running {
		t.Errorf("it is %s", c.State)
	}
	if err := os.WriteFile(f.Job(c.Name)+".end", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, f, c.Name, Done)
	if text, err := os.ReadFile(f.Job(c.Name) + ".starts"); err != nil || strings.Count(string(text), "start") != 2 {
		// The second start is that of a finished job, which says how it has ended.
		t.Errorf("%s, %v", text, err)
	}
}

// TestHalves: what a kill leaves of a request or of a removal is completed; what is no crawl stays;
// a file of options is a crawl that the operator asks for.
func TestHalves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("known.json", `{"name":"known","state":"queued","first":"https://a.test/"}`)
	write("known.toml-new", "[crawl]\nurls=['https://a.test/']\n")
	write("unknown.toml-new", "[crawl]\nurls=['https://b.test/']\n")
	write("going.json", `{"name":"going","state":"done","deleting":true}`)
	write("going.toml", "")
	write("own.toml", "[crawl]\nurls=['https://c.test/']\n")
	write("empty.toml", "")
	write("weft.toml", "[crawl]\ndepth=1\n")
	write("wrong.json", "{")
	write("other.json", `{"name":"../known"}`)
	write("UPPER.toml", "[crawl]\nurls=['https://d.test/']\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	f, _ := opened(t, dir, Options{Command: shell(`[ -f "$1" ]`)})
	until(t, f, "known", Done)
	until(t, f, "own", Done)
	if all := f.List(func(*Crawl) bool { return true }); len(all) != 2 {
		t.Errorf("%+v", all)
	}
	gone(t, f, "going")
	for _, name := range []string{"wrong.json", "other.json", "link.json", "empty.toml", "weft.toml", "UPPER.toml"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestOneServer: a folder is of one process at a time.
func TestOneServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opened(t, dir, Options{Command: shell("exit 0")})
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
}

// TestMost: beyond the most crawls there is an error, and nothing of the request is left.
func TestMost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, _ := opened(t, dir, Options{Most: 2, Command: shell("exit 0")})
	for i := range 2 {
		asked(t, f, Ask{Seeds: []string{fmt.Sprintf("https://%d.test/", i)}})
	}
	if _, _, err := f.Add(Ask{Seeds: []string{"https://a.test/"}, Key: "k"}); !errors.Is(err, ErrMany) {
		t.Error(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.toml*")); len(files) != 2 {
		t.Error(files)
	}
}

// TestTokensAreNoCrawl: the tokens of a folder are no crawl that cannot be read, and no file of
// options takes their place.
func TestTokensAreNoCrawl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokens.toml"), []byte("[crawl]\nurls = [\"https://a.test/\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f, err := Open(dir, Options{Warn: func(err error) {
			if !strings.HasPrefix(err.Error(), "tokens.toml: its name is none of a crawl") {
				t.Error(err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if all := f.List(func(*Crawl) bool { return true }); len(all) > 0 {
			t.Errorf("%+v", all)
		}
		if err := errors.Join(f.Close(), os.WriteFile(filepath.Join(dir, "tokens.json"), []byte("[]"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
