package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder writes files, those named .gz compressed.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		body := []byte(text)
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(body)
			z.Close()
			body = b.Bytes()
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLoad: both corpora are read, each page with its text, type, site and what it says about
// itself; all pages of a site are in one fold, and the test part stays unread.
func TestLoad(t *testing.T) {
	all, err := load(folder(t, map[string]string{
		"aeb/ground-truth.json":         `{"b": {"articleBody": "Two Words", "url": "https://news.site.example/1"}}`,
		"aeb/html/b.html.gz":            "<p>Two Words",
		"wcxb/test/ground-truth/9.json": "{",
		"wcxb/dev/ground-truth/a.json": `{"url": "https://www.site.example/2", "_internal": {"page_type": {"primary": "forum"}},
			"ground_truth": {"main_content": "Two Words", "title": "T", "author": null, "publish_date": "2026-11-23"}}`,
		"wcxb/dev/html/a.html.gz":      "<p>two words",
		"wcxb/dev/ground-truth/c.json": `{"url": null, "_internal": {"page_type": {"primary": "article"}}, "ground_truth": {"main_content": ""}}`,
		"wcxb/dev/html/c.html.gz":      "",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("%d pages, expected 3", len(all))
	}
	a, b, c := all[0], all[1], all[2]
	if a.id != "a" || a.kind != "forum" || a.site != "site.example" || string(a.body) != "<p>two words" || a.truth.Title != "T" || a.truth.Date.Day() != 23 {
		t.Errorf("page of WCXB: %s, %s of %s, %q, %v", a.id, a.kind, a.site, a.body, a.truth)
	}
	if b.id != "b" || b.kind != "" || b.site != a.site || b.fold != a.fold {
		t.Errorf("article: %s, %q of %s in fold %d, expected the fold of its site, %d", b.id, b.kind, b.site, b.fold, a.fold)
	}
	if !slices.Equal(a.gold, []string{"two", "words"}) || !slices.Equal(b.gold, []string{"Two", "Words"}) {
		t.Errorf("texts: %q, %q: one benchmark compares small letters, one does not", a.gold, b.gold)
	}
	if c.site != "c" || len(c.gold) != 0 {
		t.Errorf("page without URL and text: site %q, text %q", c.site, c.gold)
	}
	for _, missing := range []map[string]string{
		{},
		{"aeb/ground-truth.json": "{}"},
		{"aeb/ground-truth.json": `{"b": {}}`},
		{"aeb/ground-truth.json": "{}", "wcxb/dev/ground-truth/a.json": "{"},
	} {
		if _, err := load(folder(t, missing)); err == nil {
			t.Errorf("no error of a folder with %q only", missing)
		}
	}
}

// TestLessons: of the texts that the versions of a parser find, a page has the one that it contains
// most of; without any of them, it teaches nothing.
func TestLessons(t *testing.T) {
	const data = "fundus/tests/resources/parser/test_data/"
	all, err := lessons(folder(t, map[string]string{
		data + "us/Paper_2026_11_23.html.gz": "<p>a summary<h2>A head</h2><p>one two three",
		data + "us/Paper_2020_01_01.html.gz": "<p>few words of any",
		data + "us/Paper.json": `{"V1": {"body": {"summary": ["A summary"], "sections": [{"headline": ["A head"], "paragraphs": ["One two three"]}]}},
			"V2": {"body": {"sections": [{"paragraphs": ["words of a newer page"]}]}}}`,
		data + "us/meta.info": `{"Paper_2026_11_23.html.gz": {"url": "https://paper.example/x"}}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%d lessons, expected 1", len(all))
	}
	if all[0].kind != lesson || all[0].site != "paper.example" || strings.Join(all[0].gold, " ") != "a summary a head one two three" {
		t.Errorf("a lesson of %s: %q", all[0].site, all[0].gold)
	}
	if _, err := lessons(t.TempDir()); err == nil {
		t.Error("no error of a folder without pages")
	}
}
