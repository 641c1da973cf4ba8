package crawls

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// over waits for the measuring of crawls to have an effect on what is asked for.
func over(t *testing.T, ask func() error, want bool) (last *OverLimit) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		last = nil
		if err := ask(); errors.As(err, &last) == want && (want || err == nil) {
			return last
		}
		pause, end := context.WithTimeout(ctx, 20*time.Millisecond)
		<-pause.Done()
		end()
		if ctx.Err() != nil {
			t.Fatalf("%v, expected over a limit: %t", last, want)
		}
	}
}

// TestQuotaOfDisk: a user whose crawls take too much has them ended, by name of the limit, and none
// started or resumed until some are deleted; others go on.
func TestQuotaOfDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line := `trap 'exit 5' TERM; mkdir -p "$2/a"; head -c 3000 /dev/zero >"$2/a/b"; case $2 in */big*) head -c 9000 /dev/zero >"$2/c"; while :; do sleep 0.02; done;; esac`
	o := Options{Limits: func(by string) Limits { return map[string]Limits{"small": {Disk: 10_000}}[by] }, Command: shell(line)}
	f, end := opened(t, dir, o)
	add := func(by, seed string) func() error {
		return func() error {
			_, _, err := f.Add(Ask{By: by, Seeds: []string{"https://" + seed + ".test/"}, Key: seed})
			return err
		}
	}
	if err := add("small", "a")(); err != nil {
		t.Fatal(err)
	}
	a := f.List(func(*Crawl) bool { return true })[0]
	until(t, f, a.Name, Done)
	end()

	// One that writes too much, as a file says which.
	name := "big"
	if err := os.WriteFile(f.path(name, ".toml"), []byte("[crawl]\nurls = [\"https://b.test/\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.save(&Crawl{Name: name, By: "small", State: Queued, Hosts: []string{"b.test"}}); err != nil {
		t.Fatal(err)
	}
	f, end = opened(t, dir, o)
	c := until(t, f, name, Stopped)
	if !strings.Contains(c.Message, "max-disk, the limit of the token") {
		t.Errorf("%+v", c)
	}
	if e := over(t, add("small", "d"), true); e.Has < 15_000 || e.May != 10_000 {
		t.Errorf("%+v", e)
	}
	for _, again := range []func() error{
		func() error { _, err := f.Resume(name); return err },
		func() error { _, err := f.Retry(a.Name, Retry{}); return err },
	} {
		over(t, again, true)
	}
	if c, _ := f.Get(name); c.State != Stopped || c.Message == "" || c.Retry != nil {
		t.Errorf("%+v", c)
	}
	if err := add("other", "d")(); err != nil {
		t.Error(err)
	}
	end()

	// It is known again when the folder is opened, and room is where crawls are deleted.
	f, _ = opened(t, dir, o)
	over(t, func() error { _, err := f.Resume(name); return err }, true)
	if err := f.Delete(name); err != nil {
		t.Fatal(err)
	}
	over(t, add("small", "d"), false)
}

// TestQuotaOfFiles: what is asked for takes disk, too, from when it is.
func TestQuotaOfFiles(t *testing.T) {
	t.Parallel()
	const most, long = 10_000, 6_000
	dir, by := t.TempDir(), Options{Limits: func(string) Limits { return Limits{Disk: most} }, Command: shell("exit 0")}
	f, err := Open(dir, by)
	if err != nil {
		t.Fatal(err)
	}
	add := func() error {
		_, _, err := f.Add(Ask{By: "a", Seeds: []string{"https://a.test/" + strings.Repeat("x", long)}, Hook: []byte("{}")})
		return err
	}
	var over *OverLimit
	if err := errors.Join(add(), add()); err != nil {
		t.Fatal(err)
	}
	if err := add(); !errors.As(err, &over) || over.Has < 2*long {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(dir, by); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.mu.Lock()
	f.scales.confine(f.inOrder())
	f.mu.Unlock()
	f.beside.Wait()
	// NAME.json has the beginning of a URL.
	if err := add(); !errors.As(err, &over) || over.Has < 2*(long+2048) {
		t.Error(err)
	}
}

// TestQuotaOfQueue: so many crawls of a user wait, and one user has a part of all that may be.
func TestQuotaOfQueue(t *testing.T) {
	t.Parallel()
	f, err := Open(t.TempDir(), Options{Most: 12, Limits: func(by string) Limits { return map[string]Limits{"few": {Queued: 2}}[by] }})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	add := func(by string) error {
		_, _, err := f.Add(Ask{By: by, Seeds: []string{"https://a.test/"}})
		return err
	}
	var over *OverLimit
	for i := range 2 {
		if err := add("few"); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := add("few"); !errors.As(err, &over) || over.Limit != "max-queued" || over.Has != 2 {
		t.Error(err)
	}
	stopped := f.List(func(*Crawl) bool { return true })[0]
	if _, err := f.Stop(stopped.Name); err != nil {
		t.Error(err)
	}
	if err := add("few"); err != nil {
		t.Error(err)
	}
	if _, err := f.Resume(stopped.Name); !errors.As(err, &over) {
		t.Error(err)
	}
	if c, _ := f.Get(stopped.Name); c.State != Stopped {
		t.Errorf("%+v", c)
	}
	for i := range 3 {
		if err := add("many"); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := add("many"); !errors.Is(err, ErrMany) {
		t.Error(err)
	}
	for i := range 6 {
		if err := add(""); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := add(""); !errors.Is(err, ErrMany) {
		t.Error(err)
	}
}

// TestKeyOfDeleted: the key of a crawl that is being deleted is refused, and free once it is gone.
func TestKeyOfDeleted(t *testing.T) {
	t.Parallel()
	f, err := Open(t.TempDir(), Options{Command: shell("exit 0")})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := Ask{Seeds: []string{"https://a.test/"}, By: "me", Key: "k", Digest: "d"}
	first := asked(t, f, a)
	if err := f.Delete(first.Name); err != nil {
		t.Fatal(err)
	}
	if c, fresh, err := f.Add(a); !errors.Is(err, ErrLeaving) {
		t.Errorf("%+v, new %t, %v", c, fresh, err)
	}
	f.look()
	f.beside.Wait()
	a.Digest = "another"
	if c, fresh, err := f.Add(a); err != nil || !fresh || c.Name != first.Name || c.Created.Equal(first.Created) || c.State != Queued {
		t.Errorf("%+v, new %t, %v", c, fresh, err)
	}
}
