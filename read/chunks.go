package read

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/markdown"
)

// Chunk is a part of a text. Its fields are those of a line of JSON.
type Chunk struct {
	URL      string   `json:"url"`
	Title    string   `json:"title,omitempty"`
	Language string   `json:"language,omitempty"`
	ID       string   `json:"id"`    // of URL, trail and text: another text is another chunk
	Index    int      `json:"index"` // on its page, from 0
	Offset   int      `json:"offset"`
	Overlap  int      `json:"overlap,omitempty"` // characters that the chunk before has, too
	Trail    []string `json:"trail"`             // the headings above it, from the first level on
	Change   Change   `json:"change,omitempty"`
	Hash     string   `json:"hash"` // SHA-256 of its text, hexadecimal
	Text     string   `json:"text"`
}

// section is the part of a page below a heading, up to the next of any level.
type section struct {
	from, to int // offsets; from is that of the heading
	level    int
	trail    []string
}

// chunks divides the text of a page. A heading and all below it are one chunk if they fit into so
// many characters; if not, neighbours below the same heading are one as far as they fit, with what
// stands below the heading itself before them; what does not fit alone is divided at blocks, lines,
// sentences, words. With an overlap, a chunk begins with as many characters of the text before it,
// which count.
func chunks(d *markdown.Document, p *Page, most, overlap int) []Chunk {
	overlap = min(overlap, most/2) // else many chunks would bring little that is new
	c := chunker{most: most - overlap, overlap: overlap, page: p, doc: d, times: make(map[[sha256.Size]byte]int)}
	sections := c.sections()
	own := 0
	if sections[0].trail == nil {
		own = 1
	}
	c.pack(nil, sections[:own], sections[own:])
	return c.all
}

type chunker struct {
	most    int // characters besides the overlap
	overlap int
	page    *Page
	doc     *markdown.Document
	all     []Chunk
	times   map[[sha256.Size]byte]int // by hash, the same texts below the same headings

	at, characters int // an offset, and how many characters are before it
}

// longestTrail bounds a heading in a trail, in bytes: each chunk below it repeats it.
const longestTrail = 300

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
		levels, trail = append(levels, h.Level), append(trail, line(h.Text, longestTrail))
		all = append(all, section{h.Offset, at, h.Level, append([]string(nil), trail...)})
	}
	return all
}

// pack makes chunks of what stands below a heading: its own section, if there is one, and those of
// the headings below it.
func (c *chunker) pack(trail []string, own, below []section) {
	run, is := section{}, false // neighbours that are one chunk so far
	flush := func() {
		if is {
			c.add(run.trail, run.from, run.to)
		}
		is = false
	}
	if len(own) > 0 {
		if run, is = own[0], c.fits(own[0].from, own[0].to); !is {
			c.divide(own[0])
		}
	}
	for len(below) > 0 {
		s, end := below[0], 1
		for end < len(below) && below[end].level > s.level {
			end++
		}
		to := below[end-1].to
		switch {
		case is && c.fits(run.from, to):
			run.to, run.trail = to, trail
		case c.fits(s.from, to):
			flush()
			run, is = section{s.from, to, s.level, s.trail}, true
		default:
			flush()
			c.pack(s.trail, below[:1], below[1:end])
		}
		below = below[end:]
	}
	flush()
}

func (c *chunker) fits(from, to int) bool {
	return to-from <= c.most || !c.exceeds(strings.TrimSpace(c.doc.Text[from:to]))
}

// exceeds reports whether a text has more characters than a chunk. It reads no more of it.
func (c *chunker) exceeds(text string) bool {
	n := 0
	for range text {
		if n++; n > c.most {
			return true
		}
	}
	return false
}

// divide makes chunks of a section that is too long: as many blocks as fit, and parts of a block
// that does not. Its heading does not stand alone.
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
		if heading := i == 0 && s.trail != nil; i+1 < len(cuts) && (heading || c.fits(from, cuts[i+1])) {
			continue
		}
		if c.fits(from, to) {
			c.add(s.trail, from, to)
		} else {
			c.split(s.trail, from, to)
		}
		from = to
	}
}

// split divides a block at ends of lines, sentences or words.
func (c *chunker) split(trail []string, from, to int) {
	to = from + len(strings.TrimRightFunc(c.doc.Text[from:to], unicode.IsSpace))
	for {
		from += len(c.doc.Text[from:to]) - len(strings.TrimLeftFunc(c.doc.Text[from:to], unicode.IsSpace))
		text := c.doc.Text[from:to]
		if !c.exceeds(text) {
			break
		}
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
		c.add(trail, from, from+end)
		from += end
	}
	c.add(trail, from, to)
}

// add makes a chunk of a part of the text.
func (c *chunker) add(trail []string, from, to int) {
	from += len(c.doc.Text[from:to]) - len(strings.TrimLeft(c.doc.Text[from:to], "\n"))
	text := strings.TrimRightFunc(c.doc.Text[from:to], unicode.IsSpace)
	if text == "" {
		return
	}
	if trail == nil {
		trail = []string{}
	}
	before := c.before(from)
	c.characters += utf8.RuneCountInString(c.doc.Text[c.at:from])
	c.at = from
	overlap := utf8.RuneCountInString(before)
	text = before + text
	key := sha256.Sum256([]byte(strings.Join(trail, "\n") + "\x00" + text))
	id := sha256.Sum256(fmt.Appendf(nil, "%s\x00%x\x00%d", c.page.URL, key, c.times[key]))
	sum := sha256.Sum256([]byte(text))
	c.times[key]++
	c.all = append(c.all, Chunk{
		URL: c.page.URL, Title: c.page.Title, Language: c.page.Language, ID: hex.EncodeToString(id[:16]), Index: len(c.all),
		Offset: c.characters - overlap, Overlap: overlap, Trail: trail, Hash: hex.EncodeToString(sum[:]), Text: text,
	})
}

// before returns the overlap of a chunk that begins at an offset: whole words, if it has more than
// one.
func (c *chunker) before(from int) string {
	start := from
	for range c.overlap {
		_, size := utf8.DecodeLastRuneInString(c.doc.Text[:start])
		start -= size
	}
	text := c.doc.Text[start:from]
	if start == 0 || strings.TrimSpace(text) == "" {
		return text
	}
	if last, _ := utf8.DecodeLastRuneInString(c.doc.Text[:start]); !unicode.IsSpace(last) {
		if at := strings.IndexFunc(text, unicode.IsSpace); at >= 0 && strings.TrimSpace(text[at:]) != "" {
			text = text[at:]
		}
	}
	return strings.TrimLeftFunc(text, unicode.IsSpace)
}
