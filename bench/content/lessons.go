package main

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/content"
)

// lesson is the kind of a page that teaches and judges nothing.
const lesson = "lesson"

// lessons reads the pages of DIR/fundus, with which the parsers of Fundus are tested, and what each
// finds. A publisher has several parsers where it has changed its pages, and a file for all of
// them: the text of a page is the one that it has most of. Those of a site that a fold judges teach
// nothing there, as all pages of a site are in one fold.
func lessons(dir string) ([]*document, error) {
	dir = filepath.Join(dir, "fundus", "tests", "resources", "parser", "test_data")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.html.gz"))
	if err == nil && len(files) == 0 {
		err = errors.New(dir + " has no pages")
	}
	var all []*document
	for _, file := range files {
		folder, name := filepath.Split(file)
		publisher := dated.ReplaceAllString(name, "")
		var versions map[string]struct{ Body fundusBody }
		var about map[string]struct{ URL string }
		body, err := unzip(file)
		if err == nil {
			err = errors.Join(readJSON(filepath.Join(folder, publisher+".json"), &versions), readJSON(filepath.Join(folder, "meta.info"), &about))
		}
		if err != nil {
			return nil, err
		}
		root, err := content.Parse(body)
		if err != nil {
			return nil, err
		}
		text := tokens(strings.ToLower(render(root)))
		best, most := (*document)(nil), leastFound
		for _, version := range slices.Sorted(maps.Keys(versions)) {
			d := &document{id: name, site: siteOf(about[name].URL, name), kind: lesson, body: body}
			d.gold = d.words(versions[version].Body.text())
			if found := d.measure(text).recall; len(d.gold) > 0 && found > most {
				best, most = d, found
			}
		}
		if best != nil {
			all = append(all, best)
		}
	}
	return folded(all), err
}

// leastFound is the least part of its text that a page must have.
const leastFound = 0.9

// dated is the end of a page's name behind that of its publisher.
var dated = regexp.MustCompile(`_\d{4}_\d\d_\d\d.*`)

// fundusBody is an article without its title.
type fundusBody struct {
	Summary  []string
	Sections []struct{ Headline, Paragraphs []string }
}

func (b fundusBody) text() string {
	lines := b.Summary
	for _, s := range b.Sections {
		lines = append(append(lines, s.Headline...), s.Paragraphs...)
	}
	return strings.Join(lines, "\n")
}
