package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weftcrawl/weft/content"
)

// about is the data of a page about itself, as an extractor or a person has found it.
type about struct {
	Title  string    `json:"title"`
	Author string    `json:"author"`
	Date   time.Time `json:"date"`
}

// about returns the finds of package content.
func (d *document) about() about {
	root, _ := content.Parse(d.body)
	c := content.Extract(content.Page{URL: d.url, Root: root}, content.Options{})
	return about{c.Title, c.Author, c.Date}
}

// truthAbout reads the truth of a page of WCXB. What it does not have is null, or a word for none.
func truthAbout(truth json.RawMessage) (about, error) {
	var t struct {
		Title  string `json:"title"`
		Author string `json:"author"`
		Date   string `json:"publish_date"`
	}
	if err := json.Unmarshal(truth, &t); err != nil {
		return about{}, err
	}
	a := about{Title: t.Title, Author: t.Author}
	a.Date, _ = time.Parse(time.DateOnly, t.Date)
	return a, nil
}

// names are the people that a line names, each as words in small letters.
func names(line string) map[string]bool {
	found := make(map[string]bool)
	for _, name := range between.Split(line, -1) {
		if words := tokens(strings.ToLower(name)); len(words) > 0 {
			found[strings.Join(words, " ")] = true
		}
	}
	return found
}

var between = regexp.MustCompile(`(?i)[,;&/]|\s(and|und|et|y|with)\s`)

// fields are the compared data of a page. Right are the words of the title, one of the authors at
// least and nobody else, the day.
var fields = []struct {
	name  string
	has   func(about) bool
	right func(found, truth about) bool
}{
	{"title", func(a about) bool { return a.Title != "" }, func(found, truth about) bool {
		return strings.Join(tokens(strings.ToLower(found.Title)), " ") == strings.Join(tokens(strings.ToLower(truth.Title)), " ")
	}},
	{"author", func(a about) bool { return a.Author != "" }, func(found, truth about) bool {
		known := names(truth.Author)
		for name := range names(found.Author) {
			if !known[name] {
				return false
			}
		}
		return true
	}},
	{"date", func(a about) bool { return !a.Date.IsZero() }, func(found, truth about) bool {
		return found.Date.Format(time.DateOnly) == truth.Date.Format(time.DateOnly)
	}},
}

// tally counts the finds of a field.
type tally struct{ right, wrong, missing, extra int }

func (t *tally) add(found, truth, right bool) {
	switch {
	case !truth && found:
		t.extra++
	case !truth:
	case !found:
		t.missing++
	case right:
		t.right++
	default:
		t.wrong++
	}
}

func (t tally) String() string {
	if known := t.right + t.wrong + t.missing; known > 0 {
		return fmt.Sprintf("%.0f %% / %d / %d / %d", 100*float64(t.right)/float64(known), t.wrong, t.missing, t.extra)
	}
	return fmt.Sprintf("– / 0 / 0 / %d", t.extra)
}

// tallies counts what was found of each field of some documents.
func tallies(all []*document, found map[string]about, of func(*document) bool) (cells string) {
	for _, f := range fields {
		var t tally
		for _, d := range all {
			if d.kind != "" && of(d) {
				a := found[d.id]
				t.add(f.has(a), f.has(d.truth), f.right(a, d.truth))
			}
		}
		cells += " | " + t.String()
	}
	return cells + " |"
}

// unseen reports whether nobody has looked at the pages of a site to find rules for what it says.
func unseen(d *document) bool { return d.fold >= folds-2 }

// abouts writes the section on what pages say about themselves.
func abouts(b *bytes.Buffer, all []*document, peers []row) {
	ours := make(map[string]about)
	var mu sync.Mutex
	each(all, func(d *document) {
		if d.kind != "" {
			a := d.about()
			mu.Lock()
			defer mu.Unlock()
			ours[d.id] = a
		}
	})
	rows := append(slices.Clone(peers), row{name: "Weft", abouts: ours})
	table := func(first string) {
		fmt.Fprintf(b, "\n| %s | title | author | date |\n|---|---|---|---|\n", first)
	}
	b.WriteString(headAbouts)
	table("extractor")
	for _, r := range rows {
		if r.abouts != nil {
			fmt.Fprintf(b, "| %s%s\n", r.name, tallies(all, r.abouts, every))
		}
	}
	b.WriteString("\nThe pages of two fifths of the sites. Rules come from the others, but those for words that are no\nname and for titles of manuals come from errors on all pages:\n")
	table("extractor")
	for _, r := range rows {
		if r.abouts != nil {
			fmt.Fprintf(b, "| %s%s\n", r.name, tallies(all, r.abouts, unseen))
		}
	}
	b.WriteString("\nWeft, by type of page:\n")
	table("type")
	for _, kind := range types {
		fmt.Fprintf(b, "| %s%s\n", kind, tallies(all, ours, func(d *document) bool { return d.kind == kind }))
	}
	b.WriteString(causesAbouts)
}

const headAbouts = `
## Title, author and date

The development part of WCXB has truths for these, too; none says which language a page is in. A
cell says: right / wrong / missing / given though the truth has none; the first as a share of the
pages whose truth has one, the others as numbers of pages. A title is right when its words are the
same, a date when its day is, an author when nobody is named whom the truth does not name.
`

const causesAbouts = `
The truth of a title is mostly what the page shows as its heading; the peers give what it says for
search engines, with the name of the site. Half of our wrong dates are those of the publication,
where the truth has a later change. What we give though the truth has none is mostly what the page
says for machines: nobody has written down the author or the day of a shop's page.
`
