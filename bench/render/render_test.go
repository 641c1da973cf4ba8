//go:build linux

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestContents: all pages of a site can be reached from its first one, whatever its size.
func TestContents(t *testing.T) {
	for _, n := range []int{2, 20, 100, 1000} {
		pages := contents(n)
		seen, queue := map[string]int{pathOf(0): 0}, []int{0}
		for len(queue) > 0 {
			p := pages[queue[0]]
			queue = queue[1:]
			for _, l := range p.Links {
				to := slices.IndexFunc(pages, func(c content) bool { return c.Title == l.Title })
				if _, known := seen[l.Path]; !known {
					seen[l.Path] = to
					queue = append(queue, to)
				}
			}
		}
		if len(seen) != n {
			t.Errorf("of %d pages, %d are reached", n, len(seen))
		}
	}
}

// asFound is the pages of a site as a tool without faults finds them.
func asFound(base string, pages []content) (all []found) {
	for i, c := range pages {
		f := found{URL: base + pathOf(i), Title: c.Title, Text: c.Title + "\n" + strings.Join(c.Paragraphs, "\n\n")}
		for _, l := range c.Links {
			f.Links = append(f.Links, base+l.Path)
		}
		all = append(all, f)
	}
	return all
}

func TestCompare(t *testing.T) {
	const base = "http://127.0.0.1:1"
	pages := contents(20)
	for _, c := range []struct {
		name        string
		spoil       func([]found) []found
		lost, wrong int
	}{
		{"none", func(f []found) []found { return f }, 0, 0},
		{"twice", func(f []found) []found { return append(f, f[3]) }, 0, 0},
		{"lost", func(f []found) []found { return f[:18] }, 2, 0},
		{"a title", func(f []found) []found { f[4].Title = "Catalogue"; return f }, 0, 1},
		{"a text", func(f []found) []found { f[4].Text = "Loading…"; return f }, 0, 1},
		{"a link", func(f []found) []found { f[4].Links = f[4].Links[1:]; return f }, 0, 1},
	} {
		got := compare(base, pages, c.spoil(asFound(base, pages)))
		if got.Lost != c.lost || got.Wrong != c.wrong || got.Pages != 20-c.lost {
			t.Errorf("%s: %+v, expected %d lost and %d wrong", c.name, got, c.lost, c.wrong)
		}
	}
}

// TestServe: a page's path, however deep, has the document of the site; files that are not there
// have none.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("shell"), 0o666); err != nil {
		t.Fatal(err)
	}
	pages := contents(20)
	base, stop, err := serve(site{Name: "react", Rendered: true, Built: dir}, pages)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for path, want := range map[string]string{"/p/7": "shell", "/p/7/more": "shell", "/robots.txt": "404", "/assets/none.js": "404", "/api/pages/99": "404"} {
		if got := get(t, base+path); got != want {
			t.Errorf("%s: %.40q, expected %q", path, got, want)
		}
	}
	var c content
	if err := json.Unmarshal([]byte(get(t, base+"/api/pages/7")), &c); err != nil || c.Title != pages[7].Title {
		t.Errorf("the API says %+v, %v", c, err)
	}
}

// get returns a body, or the status if it is not 200.
func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return res.Status[:3]
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestRun: the CPU time of a run is that of all its processes, those that outlive their parents
// included, and none stays.
func TestRun(t *testing.T) {
	busy := `i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done`
	f, err := run(t.Context(), t.TempDir(), "", "sh", "-c", `sh -c '`+busy+`' & sleep 600 & exit 0`)
	if err != nil {
		t.Fatal(err)
	}
	if f.Browser == 0 || f.Left != 1 {
		t.Errorf("%v of CPU time below the first process, %d processes left, expected some and 1", f.Browser, f.Left)
	}
}

func TestDrift(t *testing.T) {
	flat := slices.Repeat([]int64{100}, 80)
	if d := drift(flat); d != 0 {
		t.Errorf("flat: %v", d)
	}
	grown := append(slices.Clone(flat), slices.Repeat([]int64{150}, 80)...)
	if d := drift(grown); d < 0.49 || d > 0.51 {
		t.Errorf("grown by a half: %v", d)
	}
}
