package crawls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// comparing adds to the options of a visitor a line of shell that compares: $1 is the job, $2 the
// visit. Notices have the name of their file.
func comparing(t *testing.T, line string) Options {
	o := visitor(t)
	o.Compare = func(job string, visit int) []string {
		return []string{"/bin/sh", "-c", line, "sh", job, fmt.Sprint(visit)}
	}
	o.Notice = func(w io.Writer, changes, to string) error {
		_, err := fmt.Fprintln(w, filepath.Base(changes))
		return err
	}
	return o
}

// aChange is a comparison that has found one.
const aChange = `printf '{"kind":"changed","url":"https://a.test/"}\n{"kind":"summary","changed":1}\n'`

// second returns a folder in which the second visit of the crawl of an operator's file has ended,
// and a function that looks at it until its visits are as wanted.
func second(t *testing.T, dir string, o Options, notify string) (*Folder, func(is func(Crawl) bool) Crawl) {
	t.Helper()
	text := "[crawl]\nurls = ['https://a.test/']\n[schedule]\nevery = '6h'\nnotify = ['/bin/sh', '-c', '" + notify + "']\n"
	if err := os.WriteFile(filepath.Join(dir, "a.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	known := `{"name":"a","own":true,"state":"done","first":"https://a.test/","visits":{"begun":2,"ended":2,"compared":1,"noticed":1}}`
	for file, text := range map[string]string{"a.weft": "visit\nvisit\n", "a.json": known} {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			continue // it is opened once more
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	f.now = func() time.Time { now = now.Add(time.Second / 4); return now } // it passes with each look
	t.Cleanup(func() { f.Close() })
	return f, func(is func(Crawl) bool) Crawl {
		t.Helper()
		for began := time.Now(); ; {
			f.look()
			c, err := f.Get("a")
			if err != nil || is(c) {
				return c
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("%+v", c)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			_, _ = f.Await(ctx, "a", func(c *Crawl) bool { return is(*c) })
			cancel()
		}
	}
}

func settled(c Crawl) bool { return c.Visits.Compared == 2 && c.Visits.Noticed == 2 }

// TestAfter: what follows a visit is done once more as long as it fails, and its error is shown;
// when it is done, it is not done again.
func TestAfter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fails := ` echo "$2: not yet" >&2; [ -e %[1]s ] || { touch %[1]s; exit 1; }; `
	f, until := second(t, dir, comparing(t, fmt.Sprintf(fails, dir+"/compared")+aChange),
		fmt.Sprintf(`[ -e %[1]s/noticed ] || { touch %[1]s/noticed; echo no such address >&2; exit 1; }; cat >>%[1]s/mail`, dir))
	c := until(func(c Crawl) bool { return c.Message != "" })
	if !strings.Contains(c.Message, "comparison of visit 2: exit status 1: 2: not yet") {
		t.Error(c.Message)
	}
	until(func(c Crawl) bool {
		return strings.Contains(c.Message, "notice of visit 2: exit status 1: no such address")
	})
	until(settled)
	for range 3 {
		f.look()
	}
	if text, err := os.ReadFile(dir + "/mail"); string(text) != "2.jsonl\n" {
		t.Errorf("%q, %v", text, err)
	}
	all, err := f.ListChanges("a")
	if err != nil || len(all) != 1 || all[0].Visit != 2 || all[0].Changed != 1 || all[0].InWords() != "1 changed" {
		t.Errorf("%+v, %v", all, err)
	}
	some, err := f.SomeChanges("a", 2, 10, 1000)
	if err != nil || len(some) != 1 || !strings.Contains(string(some[0]), "a.test") {
		t.Errorf("%s, %v", some, err)
	}
}

// TestAfterKill: a comparison that a kill breaks off is made again, and so is a notice.
func TestAfterKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, until := second(t, dir, comparing(t, "touch "+dir+"/begun; exec sleep 100"), "true")
	await := func(file string) {
		t.Helper()
		until(func(Crawl) bool { _, err := os.Stat(dir + "/" + file); return err == nil })
	}
	await("begun")
	f.Close()
	f, until = second(t, dir, comparing(t, aChange), "touch "+dir+"/mailing; exec sleep 100")
	await("mailing")
	f.Close()
	text, err := os.ReadFile(f.path("a", ".json"))
	if err != nil || !strings.Contains(string(text), `"compared":2,"noticed":1`) {
		t.Errorf("%s, %v", text, err)
	}
	_, until = second(t, dir, comparing(t, aChange), "cat >"+dir+"/mail")
	until(settled)
	if text, err := os.ReadFile(dir + "/mail"); string(text) != "2.jsonl\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestAfterHostile: whatever a comparison prints, and whatever a command does, the crawl goes on,
// and nothing half is kept.
func TestAfterHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ compare, notify, message string }{
		"no summary":       {`echo '{"kind":"new"}'`, "true", "expected a summary"},
		"no JSON":          {`echo '{'`, "true", "expected a summary"},
		"nothing":          {`true`, "true", "expected a summary"},
		"long words":       {`head -c 100000 /dev/zero | tr '\0' x >&2; exit 1`, "true", "given up"},
		"killed":           {`kill -KILL $$`, "true", "signal: killed"},
		"endless output":   {aChange, `yes | head -c 10000000; cat >/dev/null`, ""},
		"input is left":    {aChange, `exit 0`, ""},
		"child of a child": {aChange, `sleep 100 & exit 0`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, until := second(t, t.TempDir(), comparing(t, c.compare), c.notify)
			got := until(settled)
			if !strings.Contains(got.Message, c.message) || len(got.Message) > 3000 {
				t.Errorf("%.500s", got.Message)
			}
			files, err := filepath.Glob(f.path("a", changesFolder) + "/*")
			if want := map[bool]int{true: 0, false: 1}[c.message != ""]; len(files) != want {
				t.Errorf("%q, %v", files, err)
			}
		})
	}
}

// TestDeleteCompared: a crawl that is deleted while it is compared goes with its changes.
func TestDeleteCompared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, until := second(t, dir, comparing(t, "touch "+dir+"/begun; exec sleep 100"), "true")
	until(func(Crawl) bool { _, err := os.Stat(dir + "/begun"); return err == nil })
	if err := f.Delete("a"); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < time.Minute; {
		f.look()
		f.mu.Lock()
		is := f.all["a"] != nil
		f.mu.Unlock()
		if !is {
			break
		}
	}
	if files, _ := filepath.Glob(f.path("a", "*")); len(files) > 0 {
		t.Error(files)
	}
}

// TestVisitWaits: no visit begins while the one before is compared.
func TestVisitWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, until := second(t, dir, comparing(t, "touch "+dir+"/begun; until [ -e "+dir+"/go ]; do sleep 0.02; done; "+aChange), "true")
	until(func(Crawl) bool { _, err := os.Stat(dir + "/begun"); return err == nil })
	later := time.Now().Add(1000 * time.Hour)
	f.mu.Lock()
	f.now = func() time.Time { return later }
	f.mu.Unlock()
	for range 3 {
		f.look()
	}
	if c, _ := f.Get("a"); c.State != Done || c.Visits.Begun != 2 {
		t.Errorf("%+v", c)
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(func(c Crawl) bool { return c.Visits.Begun == 3 && c.State == Done })
}

// TestKept: so many files of changes are kept, and what is no such file stays.
func TestKept(t *testing.T) {
	t.Parallel()
	f := files{t.TempDir()}
	summary := func(w io.Writer) error { _, err := io.WriteString(w, `{"kind":"summary"}`+"\n"); return err }
	for visit := 2; visit < mostKept+12; visit++ {
		if err := f.keep("a", visit, summary); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(f.ChangesFile("a", 2)+".old", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := f.ListChanges("a")
	if err != nil || len(all) != mostKept || all[0].Visit != 12 {
		t.Errorf("%d, %v", len(all), err)
	}
	if _, err := f.ChangesOf("a", 3); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	long := strings.Repeat("x", 100<<10)
	err = f.keep("a", 100, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "{\"kind\":\"new\",\"details\":[%q]}\n{\"kind\":\"summary\"}\n", long)
		return err
	})
	if some, unread := f.SomeChanges("a", 100, 10, 10_000); err != nil || unread != nil || len(some) != 1 || string(some[0]) != `{"kind":"new"}` {
		t.Errorf("%.100s, %v, %v", some, err, unread)
	}
	if err := f.keep("a", 101, func(w io.Writer) error {
		_, err := (&bounded{w, 10}).Write(make([]byte, 11))
		return err
	}); err == nil {
		t.Error("too much is kept")
	}
}

// TestTries: what follows a visit is tried ever less often as long as it fails, and then is given
// up.
func TestTries(t *testing.T) {
	t.Parallel()
	f, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	now := time.Now()
	f.now = func() time.Time { return now }
	e := &entry{Crawl: Crawl{Name: "a"}}
	f.all["a"] = e
	a := &e.then.compares
	for i, want := range []time.Duration{1, 2, 4, 8, 0} {
		a.begin(now, f.life, time.Minute)
		given := f.tried(e, a, errors.New("not yet"), want == 0, "comparison")
		if given != (want == 0) || !given && a.again.Sub(now) != want*time.Second || a.may(now) != given {
			t.Errorf("try %d: given up: %t, the next one in %s, expected %d s", i, given, a.again.Sub(now), want)
		}
	}
}
