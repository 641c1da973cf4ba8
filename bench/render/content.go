//go:build linux

package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// link is one from a page to another.
type link struct {
	Path  string `json:"path"`
	Title string `json:"title"`
}

// content is the text of a page of a site: the answer of its API.
type content struct {
	Title      string   `json:"title"`
	Paragraphs []string `json:"paragraphs"`
	Pictures   []string `json:"pictures"`
	Links      []link   `json:"links"`
}

// pictures is the number of pictures of a page.
const pictures = 8

// contents are the pages of a site of n pages: the ground truth.
func contents(n int) []content {
	all := make([]content, n)
	for i := range all {
		all[i].Title = fmt.Sprintf("Page %d: %s", i, words(uint64(i), 4))
	}
	for i := range all {
		c := &all[i]
		for k := range 6 {
			c.Paragraphs = append(c.Paragraphs, fmt.Sprintf("%s. This is paragraph %d with the mark %s.", words(uint64(i*10+k+1), 40), k, mark(i, k)))
		}
		for k := range pictures {
			c.Pictures = append(c.Pictures, fmt.Sprintf("/pictures/%d-%d.png", i, k))
		}
		for _, to := range []int{2*i + 1, 2*i + 2, i + 1, i + n/2, i + n/3} {
			to %= n
			if to != i && !slices.ContainsFunc(c.Links, func(l link) bool { return l.Path == pathOf(to) }) {
				c.Links = append(c.Links, link{pathOf(to), all[to].Title})
			}
		}
	}
	return all
}

func pathOf(i int) string { return fmt.Sprintf("/p/%d", i) }

// mark is a word that stands in one paragraph of a site alone.
func mark(page, paragraph int) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d", page, paragraph)
	return fmt.Sprintf("w%016x", h.Sum64())
}

var vocabulary = strings.Fields(`river stone bridge winter garden letter window market harbour candle
	meadow thunder copper island ladder orchard pebble quarry saddle timber velvet whistle barley cellar`)

// words are n words.
func words(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([]string, n)
	for i := range all {
		all[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return strings.Join(all, " ")
}

// found is a page as a tool has found it.
type found struct {
	URL   string   `json:"url"`
	Title string   `json:"title"`
	Text  string   `json:"text"`
	Links []string `json:"links"`
}

// faults are those of a crawl beside the ground truth.
type faults struct {
	Pages int // of the site that were found, each once
	Lost  int // pages that were not found
	Wrong int // pages with another title, or without a paragraph or a link
	First string
}

// compare compares the pages that a tool has found with those of a site at base.
func compare(base string, want []content, got []found) (f faults) {
	byURL := make(map[string]found, len(got))
	for _, g := range got {
		byURL[strings.TrimSuffix(g.URL, "/")] = g
	}
	for i, c := range want {
		g, ok := byURL[base+pathOf(i)]
		fault := ""
		switch {
		case !ok:
			f.Lost++
			fault = "it is lost"
		default:
			f.Pages++
			if fault = faultOf(base, c, g); fault != "" {
				f.Wrong++
			}
		}
		if fault != "" && f.First == "" {
			f.First = pathOf(i) + ": " + fault
		}
	}
	return f
}

// faultOf returns what is wrong with a page that was found; empty: nothing.
func faultOf(base string, want content, got found) string {
	if got.Title != want.Title {
		return fmt.Sprintf("its title is %q", got.Title)
	}
	for _, l := range want.Links {
		if !slices.Contains(got.Links, base+l.Path) {
			return "it lacks the link to " + l.Path
		}
	}
	text := strings.Join(strings.Fields(got.Text), " ")
	for k, p := range want.Paragraphs {
		if !strings.Contains(text, p) {
			return fmt.Sprintf("it lacks paragraph %d", k)
		}
	}
	return ""
}
