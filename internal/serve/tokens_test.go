package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/atomicfile"
	"github.com/weftcrawl/weft/internal/crawls"
)

// TestRemovedToken: a token that is removed lets nobody in, and its limits hold for its crawls, in
// the next process, too, and while the file cannot be read.
func TestRemovedToken(t *testing.T) {
	dir := t.TempDir()
	open := func() *Tokens {
		tokens, err := OpenTokens(dir)
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	tokens := open()
	text, err := tokens.Add("one", Rights, Limits{Crawls: 2})
	if err != nil {
		t.Fatal(err)
	}
	if one, err := tokens.hashed(hashOf(text)); err != nil || one == nil || one.Name != "one" {
		t.Errorf("%+v, %v", one, err)
	}
	for _, want := range []bool{true, false} {
		if had, err := tokens.Remove("one"); err != nil || had != want {
			t.Errorf("%t, %v", had, err)
		}
	}
	for i, tokens := range []*Tokens{tokens, open()} {
		for _, hash := range []string{hashOf(text), ""} {
			if one, err := tokens.hashed(hash); err != nil || one != nil {
				t.Errorf("%d: %q: %+v, %v", i, hash, one, err)
			}
		}
		if all, err := tokens.List(); err != nil || len(all) > 0 || tokens.areRequired() != (i == 0) {
			t.Errorf("%d: %v, %v", i, all, err)
		}
		if l := tokens.LimitsOf("one"); l.Crawls != 2 {
			t.Errorf("%d: %+v", i, l)
		}
	}
	if err := os.WriteFile(tokens.path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := tokens.LimitsOf("one"); l.Crawls != 2 {
		t.Errorf("while the file cannot be read: %+v", l)
	}
	if err := os.Remove(tokens.path()); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Add("one", Rights, Limits{Crawls: 3}); err != nil || tokens.LimitsOf("one").Crawls != 3 {
		t.Errorf("%v, %+v", err, tokens.LimitsOf("one"))
	}
}

// TestTokensTogether: processes that change the tokens at once lose none.
func TestTokensTogether(t *testing.T) {
	dir := t.TempDir()
	const many = 16
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			tokens, err := OpenTokens(dir)
			if err == nil {
				_, err = tokens.Add(fmt.Sprint(i), Rights, Limits{})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	tokens, err := OpenTokens(dir)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := tokens.List(); err != nil || len(all) != many {
		t.Errorf("%d tokens, %v", len(all), err)
	}
}

// TestHandOver: what root writes is the folder's owner's, who can have root give him no other file.
func TestHandOver(t *testing.T) {
	if os.Geteuid() != 0 {
		return // it writes what is its own
	}
	const nobody = 65534
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, nil, 0o600), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	owner := func(path string) uint32 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Uid
	}
	tokens, err := OpenTokens(dir)
	if err == nil {
		_, err = tokens.Add("one", Rights, Limits{})
	}
	if err != nil || owner(tokens.path()) != nobody {
		t.Fatalf("%v, of %d", err, owner(tokens.path()))
	}
	err = atomicfile.Replace(tokens.path(), 0o600, func(w io.Writer) error {
		name := w.(interface{ Name() string }).Name()
		return errors.Join(os.Rename(name, name+".kept"), os.Symlink(other, name), tokens.handOver(w))
	})
	if err != nil || owner(other) != 0 {
		t.Errorf("%v, of %d", err, owner(other))
	}
}

// TestHolds: somebody looks at a crawl for as long as his token, as it is by now, lets him.
func TestHolds(t *testing.T) {
	tokens, err := OpenTokens(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	own, other := &crawls.Crawl{By: "one"}, &crawls.Crawl{By: "two"}
	for _, c := range []struct {
		rights     []Right
		own, other bool
	}{{Rights, true, true}, {OwnRights, true, false}, {[]Right{Write, Others}, false, false}} {
		if text, err = tokens.Add("one", c.rights, Limits{}); err != nil {
			t.Fatal(err)
		}
		by := &Token{Name: "one", Hash: hashOf(text), Rights: Rights}
		if tokens.holds(by, own) != c.own || tokens.holds(by, other) != c.other {
			t.Errorf("%v: his own: %t, that of another: %t", c.rights, !c.own, !c.other)
		}
	}
}

// TestPagesAtOnce: a token has so many pages at once, also after it has had others.
func TestPagesAtOnce(t *testing.T) {
	f := newFetches(nil)
	ctx := context.WithValue(t.Context(), asks{}, &Token{Name: "one", Limits: Limits{Fetches: 2}})
	for range 3 {
		var leaves []func()
		for range 2 {
			leave, err := f.enter(ctx)
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, leave)
		}
		if _, err := f.enter(ctx); err == nil {
			t.Error("a third one at once")
		}
		for _, leave := range leaves {
			leave()
		}
	}
}
