package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync/atomic"

	"github.com/weftcrawl/weft/internal/unseen"
)

// shown is content of the Web as it stands in its frame.
func shown(content string) string {
	content, _ = unseen.Characters(content)
	return strings.TrimSuffix(content, "\n")
}

// document is a text of the Web that is shown in parts.
type document struct {
	text   string // in UTF-8
	digest string
	last   atomic.Pointer[quotation]
}

// quotation is a part of a document as it stands in a string of JSON.
type quotation struct {
	part string
	json []byte
}

func newDocument(text string) *document {
	text = strings.ToValidUTF8(text, "\uFFFD")
	sum := sha256.Sum256([]byte(text))
	return &document{text: text, digest: hex.EncodeToString(sum[:4])}
}

// quoted quotes a part. The last one is kept, for others who read the same.
func (d *document) quoted(part string) []byte {
	if q := d.last.Load(); q != nil && q.part == part {
		return q.json
	}
	q := &quotation{part, quote(shown(part))}
	d.last.Store(q)
	return q.json
}

// quote returns a text as it stands in a string of JSON.
func quote(text string) []byte {
	var b bytes.Buffer
	b.Grow(len(text) + len(text)/8)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string has a JSON
	return bytes.TrimSuffix(b.Bytes()[1:], []byte("\"\n"))
}
