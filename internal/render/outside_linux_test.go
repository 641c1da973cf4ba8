package render_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/render"
)

// TestOutside: a page that takes memory outside its own process costs itself. The pages beside it
// and after it are whole.
func TestOutside(t *testing.T) {
	t.Parallel()
	r := rendererWith(t, render.Options{Tabs: 2, Memory: 352 << 20}) // as two tabs need
	done := soundBeside(t, r)
	p := page("https://hog.test/", `<p>x<script>fetch('/hold').catch(() => 0); const all = [], a = new Uint8Array(16 << 20).fill(1); (async () => {
		for (let n = 1; n < 150; n++) { await fetch('/took?' + n); all.push(new Blob([a])); await all.at(-1).slice(0, 9).text() }
		await fetch('/all') })()</script>`, nil)
	p.Fetch = func(ctx context.Context, q *render.Request) (*render.Response, error) {
		switch q.URL {
		case "https://hog.test/all":
			t.Error("it has all")
		case "https://hog.test/hold": // so that the page is not done
			<-ctx.Done()
		}
		return slow(50*time.Millisecond)(ctx, q) // or it takes much before the browser is looked at
	}
	p.Limits.Open, p.Limits.Total = time.Minute, time.Minute
	d, err := r.Render(t.Context(), p)
	besides := done()
	if d == nil && render.KindOf(err) != render.KindMemory || d != nil && d.Cut != "memory" {
		t.Errorf("%+v, %v", d, err)
	}
	if besides != nil {
		t.Error(besides)
	}
}

// fill has the browser's profile exceed what pages may store, as one does that stores much.
func fill(t *testing.T, r *render.Renderer) {
	name := filepath.Join(r.Profile(), "stored")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 600<<20)); err != nil {
		t.Error(err)
	}
}

// TestAlone: pages that have a browser of their own one by one, as any may have been at fault when
// that of all was ended, hold up no other, and take no more memory together with the others. The
// one at fault, that stores too much, costs itself alone.
func TestAlone(t *testing.T) {
	t.Parallel()
	const most = 1 << 30
	r := rendererWith(t, render.Options{Tabs: 2, Memory: most})
	const html = "<p id=p>x<script>fetch('/a').then(() => p.append('yz'))</script>"
	both, held, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 2)
	var tries atomic.Int32
	other := page("https://other.test/", html, nil)
	other.Fetch = func(ctx context.Context, _ *render.Request) (*render.Response, error) {
		until := release
		switch tries.Add(1) {
		case 1:
			close(both)
			until = nil
		case 2:
			close(held)
		}
		select {
		case <-until:
		case <-ctx.Done():
		}
		return &render.Response{Status: 200}, ctx.Err()
	}
	hog := page("https://hog.test/", html, nil)
	hog.Fetch = func(ctx context.Context, _ *render.Request) (*render.Response, error) {
		<-both
		fill(t, r)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, p := range []*render.Page{hog, other} {
		p.Limits.Open = time.Minute
		go func() {
			d, err := r.Render(t.Context(), p)
			switch {
			case p == hog && (d == nil && render.KindOf(err) == render.KindDisk || d != nil && d.Cut == "disk"):
				err = nil
			case err == nil && (p == hog || !strings.Contains(d.HTML, "</script>yz")):
				err = fmt.Errorf("%s: %s, cut %q", p.URL, d.HTML, d.Cut)
			}
			done <- err
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-held:
	case <-ctx.Done():
		t.Fatal("one of them has not had a browser of its own")
	}
	if _, err := r.Render(ctx, page(u, "<p>beside", nil)); err != nil {
		t.Error(err)
	} else if n := r.Most(); n != most/2 {
		t.Errorf("the other browser may take %d MiB", n>>20)
	}
	close(release)
	if err := errors.Join(<-done, <-done); err != nil {
		t.Error(err)
	}
	if n := r.Most(); n != most {
		t.Errorf("the browser may take %d MiB in the end", n>>20)
	}
}

// TestAloneForLong: a page that has a browser of its own has less time, as others may wait for one.
func TestAloneForLong(t *testing.T) {
	t.Parallel()
	r := rendererWith(t, render.Options{Tabs: 1}.AloneFor(time.Second))
	p := page("https://hog.test/", "<p>x<script>fetch('/a')</script>", nil)
	tries := 0
	p.Fetch = func(ctx context.Context, _ *render.Request) (*render.Response, error) {
		if tries++; tries == 1 {
			fill(t, r)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p.Limits.Open = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if d, err := r.Render(ctx, p); render.KindOf(err) != render.KindTime && (d == nil || d.Cut != "time") {
		t.Errorf("%+v, %v", d, err)
	}
}
