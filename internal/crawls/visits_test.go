package crawls

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/schedule"
)

// visitor returns options for crawls whose job is a file with a line for each visit.
func visitor(t *testing.T) Options {
	return Options{
		Warn: func(err error) { t.Log(err) },
		Command: func(r Run) []string {
			return []string{"/bin/sh", "-c", `[ "$2" = false ] && [ -e "$1" ] || echo visit >>"$1"`, "sh", r.Job, fmt.Sprint(r.Next)}
		},
		Visited: func(job string) (Visited, error) {
			text, err := os.ReadFile(job)
			return Visited{Visit: strings.Count(string(text), "visit"), Whole: true}, err
		},
	}
}

// at opens a folder whose clock shows a time, and lets its crawls end that are to begin.
func at(t *testing.T, dir string, o Options, now *time.Time) (f *Folder, look func() Visits) {
	t.Helper()
	f, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	f.now = func() time.Time { return *now }
	f.up = *now
	return f, func() Visits {
		t.Helper()
		f.look()
		c := f.List(func(*Crawl) bool { return true })[0]
		return until(t, f, c.Name, Done, Stopped, Failed).Visits
	}
}

// TestVisits: a crawl is visited again when its schedule says so, once; what a kill leaves of a
// visit is made whole, and none is made twice.
func TestVisits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	o := visitor(t)
	f, look := at(t, dir, o, &now)
	c := asked(t, f, Ask{Seeds: []string{"https://a.test/"}, Rule: &schedule.Rule{Every: "6h"}})
	expect := func(after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		look()
		if v := look(); v.Begun != want || v.Ended != want {
			t.Errorf("at %s: %+v, expected %d", now, v, want)
		}
	}
	expect(0, 1)
	expect(5*time.Hour, 1)
	expect(time.Hour, 2)
	expect(time.Second, 2)
	expect(48*time.Hour, 3) // it was asleep
	expect(-time.Minute, 3)
	expect(2*time.Minute, 3)
	if c, _ = f.Get(c.Name); !c.Schedule.Next.Equal(time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", c.Schedule)
	}

	// Killed before the process of a visit starts, and after it has ended unseen.
	now = now.Add(6 * time.Hour)
	f.mu.Lock()
	f.visit(f.inOrder())
	f.mu.Unlock()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f, look = at(t, dir, o, &now)
	expect(0, 4)
	f.mu.Lock()
	e := f.all[c.Name]
	e.State = Running
	err := f.save(&e.Crawl)
	f.mu.Unlock()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	f, look = at(t, dir, o, &now)
	expect(0, 4)
	if _, err := f.SetSchedule(c.Name, &schedule.Rule{Cron: "0 0 30 2 *"}); err == nil {
		t.Error("a schedule without times is accepted")
	}
	expect(6*time.Hour, 5)
	if _, err := f.SetSchedule(c.Name, nil); err != nil {
		t.Error(err)
	}
	expect(100*time.Hour, 5)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOwnSchedule: the schedule of the operator's file holds, as it is when the folder is opened,
// and as it becomes; a mistake is told once, and what the file said before holds.
func TestOwnSchedule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, table string) {
		if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte("[crawl]\nurls = ['https://a.test/']\n"+table), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	var warnings []string
	open := func() *Folder {
		o := visitor(t)
		o.Warn = func(err error) { warnings = append(warnings, err.Error()) }
		f, _ := at(t, dir, o, &now)
		return f
	}
	write("a", "[schedule]\nevery = '6h'\nnotify = ['true']\n")
	write("b", "[schedule]\nevry = '6h'\n")
	f := open()
	c, err := f.Get("a")
	if err != nil || c.Schedule == nil || c.Schedule.Every != "6h" || len(f.all["a"].then.notify.Command) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := f.Get("b"); err == nil || len(warnings) != 1 || !strings.Contains(warnings[0], "did you mean every?") {
		t.Errorf("%v, %q", err, warnings)
	}
	if _, err := f.SetSchedule("a", nil); !errors.Is(err, ErrOwn) {
		t.Error(err)
	}
	since := c.Schedule.Since
	f.Close()
	f = open()
	if c, _ = f.Get("a"); !c.Schedule.Since.Equal(since) {
		t.Errorf("%+v: it begins anew", c.Schedule)
	}
	f.Close()
	write("a", "[schedule]\ncron = '@daily'\n")
	f = open()
	if c, _ = f.Get("a"); c.Schedule.Cron != "@daily" || c.Schedule.Every != "" {
		t.Errorf("%+v", c.Schedule)
	}
	f.Close()
	f = open()
	defer f.Close()
	warnings = nil
	past := now.Add(-time.Hour)
	look := func(name, table string) {
		t.Helper()
		if table != "" {
			write(name, table)
			past = past.Add(time.Second) // a file that has just changed may be half written
			if err := os.Chtimes(filepath.Join(dir, name+".toml"), past, past); err != nil {
				t.Fatal(err)
			}
		}
		f.own.looked = past // which is long ago
		f.own.look()
	}
	look("a", "[schedule]\nevery = '7h'\nnotify = ['cat']\n")
	if c, _ = f.Get("a"); c.Schedule.Every != "7h" || c.Schedule.Cron != "" || f.all["a"].then.notify.Command[0] != "cat" {
		t.Errorf("%+v", c.Schedule)
	}
	look("a", "[schedule]\nevry = '7h'\n")
	look("a", "")
	if c, _ = f.Get("a"); c.Schedule == nil || c.Schedule.Every != "7h" || len(warnings) != 1 || !strings.Contains(warnings[0], "a.toml: [schedule]: ") {
		t.Errorf("%+v, %q", c.Schedule, warnings)
	}
	look("a", "#\n")
	look("b", "[schedule]\nevery = '8h'\n")
	look("c", "[schedule]\nevery = '9h'\n")
	a, _ := f.Get("a")
	b, _ := f.Get("b")
	if c, _ = f.Get("c"); a.Schedule != nil || b.Schedule == nil || b.Schedule.Every != "8h" || c.Schedule == nil || c.State != Queued || len(warnings) != 1 {
		t.Errorf("%+v, %+v, %+v, %q", a, b, c, warnings)
	}
	if err := os.Remove(filepath.Join(dir, "c.toml")); err != nil {
		t.Fatal(err)
	}
	look("a", "")
	look("a", "")
	if c, _ = f.Get("c"); c.Schedule == nil || len(warnings) != 2 {
		t.Errorf("%+v, %q", c, warnings)
	}
}

// TestMistakes: a file that cannot be a crawl's is told of once, and listed until it is gone or
// right. What a mistake is in is listed by its name.
func TestMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const right = "[crawl]\nurls = ['https://a.test/']\n"
	write("News.toml", right)
	write("wrong.toml", "[crawl]\n")
	write("weft.toml", "[crawl]\n")
	write(".hidden.toml", right)
	var warnings []string
	f, err := Open(dir, Options{Warn: func(err error) { warnings = append(warnings, err.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	look := func() string {
		f.own.looked, f.own.named = time.Now().Add(-time.Hour), time.Time{}
		f.own.look()
		return strings.Join(f.Mistakes(), "\n")
	}
	const ignored, empty = "News.toml: its name is none of a crawl", "wrong.toml: no URL"
	for range 3 {
		if all := look(); !strings.HasPrefix(all, ignored) || !strings.Contains(all, "\n"+empty) || strings.Count(all, "\n") != 1 {
			t.Errorf("%q", all)
		}
	}
	if len(warnings) != 2 {
		t.Errorf("%q", warnings)
	}
	if err := os.Rename(filepath.Join(dir, "News.toml"), filepath.Join(dir, "news.toml")); err != nil {
		t.Fatal(err)
	}
	write("wrong.toml", right)
	past := time.Now().Add(-time.Minute) // a file that has just changed may be half written
	for _, name := range []string{"news.toml", "wrong.toml"} {
		if err := os.Chtimes(filepath.Join(dir, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	if all := look(); all != "" || len(warnings) != 2 || len(f.List(func(*Crawl) bool { return true })) != 2 {
		t.Errorf("%q, %q", all, warnings)
	}
}

// TestAsked: who carries out only what the operator asks for once leaves files, schedules, webhooks
// and the crawls of users as they are, also those that are due, and carries out the others.
func TestAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	o := visitor(t)
	f, look := at(t, dir, o, &now)
	first := asked(t, f, Ask{Seeds: []string{"https://a.test/"}, Rule: &schedule.Rule{Every: "6h"}})
	look()
	left := []string{first.Name}
	for i, a := range []Ask{{By: "me"}, {Hook: []byte("{}")}, {Rule: &schedule.Rule{Every: "6h"}}} {
		a.Seeds = []string{fmt.Sprintf("https://%d.test/", i)}
		left = append(left, asked(t, f, a).Name)
	}
	if err := errors.Join(f.Close(), os.WriteFile(filepath.Join(dir, "own.toml"), []byte("[crawl]\nurls = ['https://o.test/']\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	state := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := make(map[string]string)
	for _, name := range left {
		before[name] = state(name)
	}
	now = now.Add(7 * time.Hour)
	o.Asked = true
	f, _ = at(t, dir, o, &now)
	defer f.Close()
	mine := asked(t, f, Ask{Seeds: []string{"https://mine.test/"}})
	for range 3 {
		f.own.looked = now.Add(-time.Hour)
		f.own.look()
		f.look()
	}
	until(t, f, mine.Name, Done)
	for _, name := range left {
		if is := state(name); is != before[name] {
			t.Errorf("%s, expected %s", is, before[name])
		}
	}
	if all := f.List(func(*Crawl) bool { return true }); len(all) != len(left)+1 {
		t.Errorf("%+v", all)
	}
}

// TestRetryOnce: URLs that have failed are asked for once more by the visit for which somebody has
// asked, and by no later one.
func TestRetryOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	var retries []*Retry
	o := visitor(t)
	visit := o.Command
	// The folder is locked meanwhile.
	o.Command = func(r Run) []string { retries = append(retries, r.Retry); return visit(r) }
	f, look := at(t, t.TempDir(), o, &now)
	defer f.Close()
	c := asked(t, f, Ask{Seeds: []string{"https://a.test/"}})
	look()
	if _, err := f.Retry(c.Name, Retry{Status: "5xx"}); err != nil {
		t.Fatal(err)
	}
	look()
	if _, err := f.Resume(c.Name); err != nil {
		t.Fatal(err)
	}
	look()
	if len(retries) != 3 || retries[0] != nil || retries[1] == nil || retries[1].Status != "5xx" || retries[2] != nil {
		t.Errorf("%+v", retries)
	}
}
