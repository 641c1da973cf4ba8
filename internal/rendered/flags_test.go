package rendered_test

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestRenderFlags: a page is taken as far as the flags say, its picture is written, and what stands
// in the way is said in one line.
func TestRenderFlags(t *testing.T) {
	t.Parallel()
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<!doctype html><title>Shop</title><body style="margin: 0; background: rgb(0, 100, 0)"><h1>Shop</h1><div id=list></div><div style="height: 2000px"></div><button class=more>More</button><img src=/a.png><script>
				let n = 0; document.querySelector('.more').onclick = async e => { list.innerHTML += await (await fetch('/more?' + n)).text(); if (++n === 3) e.target.remove() }
				setTimeout(() => { list.insertAdjacentHTML('beforeend', '<p class=late>late</p>') }, 15000)
				addEventListener('scroll', () => { if (scrollY > 1000) list.insertAdjacentHTML('beforeend', '<a href=/scrolled>s</a>') })</script>`)
		case "/more":
			fmt.Fprintf(w, "<a href=/more/%s>m</a>", r.URL.RawQuery)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	dir := t.TempDir()
	run := func(code int, args ...string) wefttest.Ended {
		t.Helper()
		e := wefttest.In(t, dir, args...)
		if e.Code != code {
			t.Errorf("%q: exit %d, expected %d: %s%s", args, e.Code, code, e.Stdout, e.Stderr)
		}
		return e
	}
	if e := run(wefttest.Done, "links", "--click", ".more", "--scroll", "10", s.URL); !strings.Contains(e.Stdout, "/more/0\n") || !strings.Contains(e.Stdout, "/more/2\n") || !strings.Contains(e.Stdout, "/scrolled\n") {
		t.Errorf("%s", e.Stdout)
	}
	if e := run(wefttest.Done, "read", "--whole", "--wait", ".late", s.URL); !strings.Contains(e.Stdout, "late") {
		t.Errorf("%s", e.Stdout)
	}
	if e := run(wefttest.Failed, "extract", "--extract", "x=h1", "--wait", ".never", s.URL); !strings.HasSuffix(e.Stderr, `/: nothing matches --wait ".never" after 30 s of page time`+"\n") || e.Stdout != "" {
		t.Errorf("%s%s", e.Stdout, e.Stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte("/more?1$xhr\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := run(wefttest.Done, "links", "--click", ".more", "--block", "list", s.URL); !strings.Contains(e.Stdout, "/more/0\n") || strings.Contains(e.Stdout, "/more/1\n") {
		t.Errorf("with a list: %s", e.Stdout)
	}
	run(wefttest.Misused, "read", "--block", "list", s.URL)
	run(wefttest.Done, "fetch", "--screenshot=full", "-o", "full.png", s.URL)
	if n := s.Times()["/a.png"]; n != 1 {
		t.Errorf("%d requests for the image, expected that of the picture", n)
	}
	text, err := os.ReadFile(filepath.Join(dir, "full.png"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, _ := m.At(1000, 1500).RGBA(); m.Bounds().Dx() != 1280 || m.Bounds().Dy() < 2000 || r>>8 != 0 || g>>8 != 100 || b>>8 != 0 {
		t.Errorf("%v, %d %d %d", m.Bounds(), r>>8, g>>8, b>>8)
	}
	run(wefttest.Done, "fetch", "--follow", "--pdf", "-o", "shop.pdf", s.URL+"/moved")
	if text, err := os.ReadFile(filepath.Join(dir, "shop.pdf")); err != nil || !bytes.HasPrefix(text, []byte("%PDF-")) {
		t.Errorf("%.20q, %v", text, err)
	}
	for args, want := range map[string]string{
		"--screenshot -o a.png " + s.URL + "/moved": "--screenshot: status 302",
		"--pdf " + s.URL:                    "--pdf: expected together with --output FILE",
		"--pdf --screenshot -o x " + s.URL:  "--screenshot and --pdf: expected one of them",
		"--wait 5 " + s.URL:                 "--wait",
		"--wait -5s " + s.URL:               "--wait",
		"--wait a[[ " + s.URL:               "--wait",
		"--click :::x " + s.URL:             "--click",
		"--wait 5s --render=never " + s.URL: "--wait and --render=never: expected one of them",
		"--scroll 0 " + s.URL:               "--scroll",
		"--screenshot=half -o x " + s.URL:   "expected one of viewport, full",
		"--pdf -I " + s.URL:                 "--pdf: expected",
	} {
		if e := wefttest.In(t, dir, append([]string{"fetch"}, strings.Fields(args)...)...); e.Code == wefttest.Done || !strings.Contains(e.Stderr, want) {
			t.Errorf("%s: exit %d, %s", args, e.Code, e.Stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a.png")); err == nil {
		t.Error("a file without a picture")
	}
}

// TestBrowserFlags: what is wrong with a browser is said once, before anything is fetched; a
// response without a document is not rendered; and --browser without --render is misused, unless
// the file has it.
func TestBrowserFlags(t *testing.T) {
	t.Parallel()
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Set("Content-Type", "text/html"); r.URL.Path == "/none" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		fmt.Fprint(w, "<p>Text enough to be read by a person.</p>")
	})
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"crawl --render --browser /no/browser --job a ", wefttest.Failed, "weft: browser \"/no/browser\": no such file or directory\n"},
		{"read --render --browser /no/browser ", wefttest.Failed, "weft: browser \"/no/browser\": no such file or directory\n"},
		{"crawl --browser chromium --job b ", wefttest.Misused, "weft: --browser: expected together with --render\n"},
		{"read --browser chromium ", wefttest.Misused, "weft: --browser: expected together with --render\n"},
		{"crawl --render --click a[ --job c ", wefttest.Misused, `weft: --click "a[": unexpected "[" in a CSS selector` + "\n"},
	} {
		if e := wefttest.In(t, dir, append(strings.Fields(c.args), s.URL)...); e.Code != c.code || e.Stderr != c.want {
			t.Errorf("%s: exit %d, %s", c.args, e.Code, e.Stderr)
		}
	}
	if n := s.Times()["/"]; n != 0 {
		t.Errorf("%d requests", n)
	}
	e := wefttest.In(t, dir, "read", "--render=always", s.URL+"/none")
	if e.Code != wefttest.Failed || !strings.HasSuffix(e.Stderr, "/none\": no text\n") {
		t.Errorf("204: exit %d, %s", e.Code, e.Stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "c.toml"), []byte("browser = \"chromium\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := wefttest.In(t, dir, "read", "--config", "c.toml", s.URL); e.Code != wefttest.Done {
		t.Errorf("--browser in a file: exit %d, %s", e.Code, e.Stderr)
	}
	e = wefttest.In(t, dir, "crawl", "-q", "--render", "--job", "d", s.URL+"/none")
	if why := wefttest.In(t, dir, "why", "d", s.URL+"/none"); !strings.Contains(why.Stdout, "auto: not rendered, as it has no document") {
		t.Errorf("%s%s", e.Stderr, why.Stdout)
	}
}
