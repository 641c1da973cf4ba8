package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

type searchIn struct {
	JobPart
	Query string `json:"query" jsonschema:"the words to find: a page must have all of them; case does not matter"`
	In    string `json:"in,omitempty" jsonschema:"where to search: pages (default), in the main content; records, in URL, title, error and so on, which is fast"`
	Part
}

// Bounds of a search.
const (
	mostWords   = 16
	searchFor   = 20 * time.Second // then there is a cursor
	mostExcerpt = 200              // bytes of a text around a word
)

func (t *tools) search(ctx context.Context, in searchIn) (*answer, error) {
	words := strings.Fields(strings.ToLower(in.Query))
	switch {
	case len(words) == 0 || len(words) > mostWords:
		return nil, wrong("query: %d words, expected 1 to %d", len(words), mostWords)
	case in.In != "" && in.In != "pages" && in.In != "records":
		return nil, wrong("in %.64q, expected pages or records", in.In)
	}
	var b strings.Builder
	found := 0
	a, err := t.overRecords(ctx, in.Job, in.Part, func(r *record.Record, bodies *results.Bodies) error {
		line, err := "", error(nil)
		if in.In == "records" {
			line = inRecord(r, words)
		} else {
			line, err = inPage(r, bodies, words)
		}
		switch {
		case err != nil || line == "":
			return err
		case b.Len()+len(line) > in.room() && b.Len() > 0:
			return errEnough
		}
		found++
		b.WriteString(line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.say("%d of these have the words.", found)
	a.content = b.String()
	return a, nil
}

// inRecord returns a line about a record that has the words; "" if it lacks one.
func inRecord(r *record.Record, words []string) string {
	text, err := json.Marshal(r)
	if err != nil || !hasAll(strings.ToLower(string(text)), words) {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf("%d %s %s %s", r.Status, line(r.URL), line(r.Title), line(r.Error)), " ") + "\n"
}

// inPage returns lines about a page whose content has the words, with what stands around them; ""
// if it lacks one.
func inPage(r *record.Record, bodies *results.Bodies, words []string) (string, error) {
	if !r.IsPage() && !(r.Status == 200 && scrape.IsText(r.Type())) {
		return "", nil
	}
	body, err := bodies.Read(r)
	if err != nil {
		if errors.Is(err, results.ErrNoBody) && !bodies.Any() {
			return "", wrong("the job has no bodies: search in records")
		}
		return "", nil // of this page alone
	}
	text, _ := charset.UTF8(r.Type(), body)
	if !hasAll(string(bytes.ToLower(text)), plainOf(words)) {
		return "", nil // most pages end here
	}
	content := string(text)
	title := r.Title
	if record.IsHTML(r.Type()) {
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return "", nil
		}
		p := read.One(read.Source{URL: u, ContentType: r.Type(), Body: body}, read.Options{Text: true, Seen: true})
		content, title = p.Text, p.Title
	}
	lower := strings.ToLower(content)
	if !hasAll(lower, words) {
		return "", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", line(r.URL), line(title))
	shown := -mostExcerpt
	for _, w := range words {
		at := min(strings.Index(lower, w), len(content))
		if at < shown+mostExcerpt/2 && at > shown-mostExcerpt/2 {
			continue // it stands in what was shown
		}
		shown = at
		fmt.Fprintf(&b, "  … %s …\n", line(strings.ToValidUTF8(content[max(0, at-mostExcerpt/2):min(len(content), at+mostExcerpt/2)], "")))
	}
	return b.String(), nil
}

// plainOf are the words that stand in markup as they are: others may be written as references.
func plainOf(words []string) (plain []string) {
	for _, w := range words {
		if strings.IndexFunc(w, func(r rune) bool { return r >= 0x80 || strings.ContainsRune("&<>\"'", r) }) < 0 {
			plain = append(plain, w)
		}
	}
	return plain
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
