package where

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/record"
)

var page = record.Record{
	URL: "https://example.org:8443/a?b=c", Status: 404, Depth: 2, Bytes: 1504, BodyBytes: 3561, Title: "Übersicht",
	Robots: []string{"noindex"}, Started: time.Date(2026, 11, 21, 15, 15, 0, 0, time.UTC), TTFBMS: 12.5,
	Change: record.ChangeGone, Pruned: true,
}

func TestMatches(t *testing.T) {
	for condition, want := range map[string]bool{
		`status >= 400 && host == "example.org"`: true,
		`status >= 400 and not (depth == 2)`:     true == false,
		`status in 400..499`:                     true,
		`status in [404, 410]`:                   true,
		`host endsWith ".org"`:                   true,
		`url contains "/a"`:                      true,
		`url matches "^https:.*b="`:              true,
		`lower(title) startsWith "über"`:         true,
		`len(title) == 9`:                        true,
		`title == ""`:                            false,
		`error == "" && error_kind == ""`:        true,
		`"noindex" in robots`:                    true,
		`"nofollow" in robots`:                   false,
		`len(robots) == 1`:                       true,
		`change == "gone"`:                       true,
		`change in ["gone", "new"]`:              true,
		`ttfb_ms > 12`:                           true,
		`body_bytes / bytes > 2`:                 true,
		`body_bytes % 2 == 1`:                    true,
		`pruned`:                                 true,
		`started > date("2026-11-21")`:           true,
		`changed_at.IsZero()`:                    true,
		`visit == 0`:                             true,
		`let n = status; n > 400 && n < 500`:     true,
		`status > 400 ? depth > 1 : false`:       true,
		`any(robots, # startsWith "no")`:         true,
	} {
		f, err := Compile[record.Record](condition)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		for range 2 { // the second time with what the first has left
			if got, err := f.Matches(&page); err != nil || got != want {
				t.Errorf("%s: %v, %v, expected %v", condition, got, err, want)
			}
			if got, err := f.Matches(&record.Record{}); err != nil && !strings.Contains(condition, "/ bytes") {
				t.Errorf("%s on an empty record: %v, %v", condition, got, err)
			}
		}
	}
	none := (*Filter[record.Record])(nil)
	if ok, err := none.Matches(&page); !ok || err != nil {
		t.Errorf("no condition: %v, %v", ok, err)
	}
}

func TestStates(t *testing.T) {
	f, err := Compile[inspect.URLStatus](`state == "failed" && host == "a.test" && tries > 1`)
	if err != nil {
		t.Fatal(err)
	}
	u := inspect.URLStatus{URL: "http://a.test/", State: inspect.URLFailed, Tries: 2}
	if ok, err := f.Matches(&u); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestMistakes: each is found when the condition is read, and said in one line.
func TestMistakes(t *testing.T) {
	for condition, want := range map[string]string{
		`statu >= 400`:                          `unknown field statu: did you mean status?`,
		`lenn(title) > 3`:                       `unknown field lenn: did you mean len?`,
		`content-type == "x"`:                   `unknown field content: did you mean content_type?`,
		`host == example.org`:                   `unknown field example, expected a text in quotes, or one of url, `,
		`status == "404"`:                       `a number beside a text, at character 8, expected a number without quotes`,
		`status`:                                `expected bool, but got int64`,
		`title + "x"`:                           `expected bool, but got string`,
		`status = 404`:                          `= at character 8, expected ==`,
		`status >= 400 AND url contains " OR "`: `AND at character 15, expected and, or &&`,
		`title == "AND" OR pruned`:              `OR at character 16, expected or, or ||`,
		`NOT pruned`:                            `NOT at character 1, expected not`,
		`status <> 404`:                         `<> at character 8, expected !=`,
		`title not like "x"`:                    `like at character 11, expected contains, or matches`,
		`title =~ "x"`:                          `=~ at character 7, expected contains, or matches`,
		`title is null`:                         `is null at character 7, expected == ""`,
		`title IS NOT NULL`:                     `IS NOT NULL at character 7, expected != ""`,
		`title == null`:                         `null at character 10, expected "", or 0`,
		`status in (404,500)`:                   `in ( at character 8, expected a list in brackets, as in status in [404, 500]`,
		`status == 1 & depth == 2`:              `& at character 13, expected and, or &&`,
		`status == 1 && "é" == h1 | pruned`:     `| at character 26, expected or, or ||`,
		`started > "2026-11-01"`:                `a time beside a text, at character 9, expected one such as date("2026-11-01")`,
		`headers.x-cache == "hit"`:              `headers.x-cache at character 1, expected a name in brackets and quotes, as in headers["x-cache"]`,
		`kind == "image"`:                       `unknown field kind: links have it, which weft export writes with --table links`,
		`title + "AND"`:                         `expected bool, but got string`,
		`status >=`:                             `unexpected token EOF`,
		``:                                      `unexpected token EOF`,
		`url matches "("`:                       `missing closing )`,
		`title.Foo == ""`:                       `has no field Foo`,
		`error_kind > 3`:                        `mismatched types`,
		strings.Repeat("x", 1e6):                `1000000 bytes, expected at most 10000`,
		strings.Repeat("(", 9_999):              ``,
		"status == 1\x00":                       ``,
		`status == "` + "\n" + `"`:              ``,
	} {
		_, err := Compile[record.Record](condition)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, expected %q", condition, err, want)
		}
	}
}

// TestBounds: what would take long, or much memory, is an error.
func TestBounds(t *testing.T) {
	for _, condition := range []string{
		`len(repeat("x", 1000000000 + depth)) > 0`,
		`all(0..(1000000000 + depth), # >= 0)`,
		`[1][depth] == 1`,
		`depth % (depth - 2) == 0`,
	} {
		f, err := Compile[record.Record](condition)
		if err == nil {
			_, err = f.Matches(&page)
		}
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", condition, err)
		}
	}
}

func TestHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.org/": "example.org", "http://a.test:81?x=/": "a.test", "http://u:p@a.test/@": "a.test",
		"http://[::1]:80/": "::1", "http://192.0.2.1:8080": "192.0.2.1", "": "", "odd": "",
	} {
		if got := Host(url); got != want {
			t.Errorf("%s: %q, expected %q", url, got, want)
		}
	}
}

// TestFields: every field of a record, and its host.
func TestFields(t *testing.T) {
	var keys map[string]any
	if err := json.Unmarshal(page.Line(), &keys); err != nil {
		t.Fatal(err)
	}
	fields := Fields[record.Record]()
	for key := range keys {
		if !slices.Contains(fields, key) {
			t.Errorf("no field %s", key)
		}
	}
	if !slices.Contains(fields, "host") || slices.Contains(Fields[record.Link](), "host") {
		t.Errorf("host: %v", fields)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`status >= 400 && host == "example.org"`)
	f.Add(`any(robots, # in ["a"])`)
	f.Fuzz(func(t *testing.T, condition string) {
		filter, err := Compile[record.Record](condition)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		_, _ = filter.Matches(&page)
	})
}

func BenchmarkMatches(b *testing.B) {
	for name, condition := range map[string]string{
		"status": `status >= 400`,
		"host":   `status >= 400 && host == "example.org"`,
	} {
		b.Run(name, func(b *testing.B) {
			f, err := Compile[record.Record](condition)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Matches(&page); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
