package read

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/markdown"
)

// Chunk is a part of a text.
type Chunk struct {
	ID       string   `json:"id"`       // stable while the page has as many parts below these headings
	Headings []string `json:"headings"` // above it, from the first level on
	Text     string   `json:"text"`
}

// section is the part of a page below a heading, up to the next of its level.
type section struct {
	from, to int // offsets; from is that of the heading
	level    int
	trail    []string
}

// chunks divides a text. A heading and all below it are one chunk if they fit into so many
// characters; if not, what stands between headings is, or parts of it: blocks, lines, sentences,
// words.
func chunks(d *markdown.Document, url string, most int) []Chunk {
	c := chunker{most: most, url: url, doc: d, times: make(map[string]int)}
	sections := c.sections()
	for i := 0; i < len(sections); {
		i = c.take(sections, i)
	}
	return c.all
}

type chunker struct {
	most  int
	url   string
	doc   *markdown.Document
	all   []Chunk
	times map[string]int // chunks below the same headings
}

// sections divides the text at its headings.
func (c *chunker) sections() (all []section) {
	text := c.doc.Text
	var trail []string
	var levels []int
	at := 0
	if len(c.doc.Headings) == 0 || c.doc.Headings[0].Offset > 0 {
		end := len(text)
		if len(c.doc.Headings) > 0 {
			end = c.doc.Headings[0].Offset
		}
		all = append(all, section{0, end, 7, nil})
	}
	for i, h := range c.doc.Headings {
		at = len(text)
		if i+1 < len(c.doc.Headings) {
			at = c.doc.Headings[i+1].Offset
		}
		for len(levels) > 0 && levels[len(levels)-1] >= h.Level {
			levels, trail = levels[:len(levels)-1], trail[:len(trail)-1]
		}
		levels, trail = append(levels, h.Level), append(trail, h.Text)
		all = append(all, section{h.Offset, at, h.Level, append([]string(nil), trail...)})
	}
	return all
}

// take makes chunks of the section at i, and returns the next.
func (c *chunker) take(sections []section, i int) int {
	s := sections[i]
	end := i + 1
	for end < len(sections) && sections[end].level > s.level && s.trail != nil {
		end++
	}
	if c.fits(s.from, sections[end-1].to) {
		c.add(s.trail, c.doc.Text[s.from:sections[end-1].to])
		return end
	}
	if c.fits(s.from, s.to) {
		c.add(s.trail, c.doc.Text[s.from:s.to])
		return i + 1
	}
	c.divide(s)
	return i + 1
}

func (c *chunker) fits(from, to int) bool {
	return to-from <= c.most || utf8.RuneCountInString(strings.TrimSpace(c.doc.Text[from:to])) <= c.most
}

// divide makes chunks of a section that is too long: as many blocks as fit, and parts of a block
// that does not.
func (c *chunker) divide(s section) {
	var cuts []int // beginnings of blocks
	for _, at := range c.doc.Blocks {
		if at > s.from && at < s.to {
			cuts = append(cuts, at)
		}
	}
	cuts = append(cuts, s.to)
	from := s.from
	for i, to := range cuts {
		if i+1 < len(cuts) && c.fits(from, cuts[i+1]) {
			continue
		}
		if c.fits(from, to) {
			c.add(s.trail, c.doc.Text[from:to])
		} else {
			c.split(s.trail, c.doc.Text[from:to])
		}
		from = to
	}
}

// split divides a block at ends of lines, sentences or words.
func (c *chunker) split(trail []string, text string) {
	for text = strings.TrimSpace(text); utf8.RuneCountInString(text) > c.most; {
		end := 0
		for range c.most {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		for _, stop := range []string{"\n", ". ", "。", " "} {
			if at := strings.LastIndex(text[:end], stop); at > end/2 {
				end = at + len(stop)
				break
			}
		}
		c.add(trail, text[:end])
		text = strings.TrimSpace(text[end:])
	}
	c.add(trail, text)
}

func (c *chunker) add(trail []string, text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) == "" {
		return
	}
	if trail == nil {
		trail = []string{}
	}
	place := strings.Join(trail, "\n")
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", c.url, place, c.times[place]))
	c.times[place]++
	c.all = append(c.all, Chunk{hex.EncodeToString(sum[:8]), trail, text})
}
