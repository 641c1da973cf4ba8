package record

import (
	"fmt"
	"path"
	"strings"
)

// Document is the kind of a document that pages link to and whose text Weft does not read, such as
// PDF; empty: it is none.
func (r *Record) Document() string {
	t := strings.ToLower(MediaType(r.Type()))
	switch t {
	case "", "application/octet-stream", "application/zip": // the name says more
		p, _, _ := strings.Cut(r.URL, "?")
		t = documentEnds[strings.ToLower(path.Ext(p))]
	}
	return documentTypes[t]
}

const (
	openXML = "application/vnd.openxmlformats-officedocument."
	oasis   = "application/vnd.oasis.opendocument."
)

var documentTypes = map[string]string{
	"application/pdf": "PDF", "application/x-pdf": "PDF",
	"application/msword": "Word", openXML + "wordprocessingml.document": "Word",
	"application/vnd.ms-excel": "Excel", openXML + "spreadsheetml.sheet": "Excel",
	"application/vnd.ms-powerpoint": "PowerPoint", openXML + "presentationml.presentation": "PowerPoint",
	oasis + "text": "OpenDocument", oasis + "spreadsheet": "OpenDocument", oasis + "presentation": "OpenDocument",
	"application/rtf": "RTF", "text/rtf": "RTF",
	"application/epub+zip": "EPUB",
}

var documentEnds = map[string]string{
	".pdf": "application/pdf", ".doc": "application/msword", ".docx": openXML + "wordprocessingml.document",
	".xls": "application/vnd.ms-excel", ".xlsx": openXML + "spreadsheetml.sheet",
	".ppt": "application/vnd.ms-powerpoint", ".pptx": openXML + "presentationml.presentation",
	".odt": oasis + "text", ".ods": oasis + "spreadsheet", ".odp": oasis + "presentation",
	".rtf": "application/rtf", ".epub": "application/epub+zip",
}

// DocumentCounts are numbers of documents, by their kind.
type DocumentCounts struct {
	PDF          int `json:"pdf,omitempty"`
	Word         int `json:"word,omitempty"`
	Excel        int `json:"excel,omitempty"`
	PowerPoint   int `json:"powerpoint,omitempty"`
	OpenDocument int `json:"opendocument,omitempty"`
	RTF          int `json:"rtf,omitempty"`
	EPUB         int `json:"epub,omitempty"`
}

// counter is a number of DocumentCounts with its kind.
type counter struct {
	kind string
	n    *int
}

func (c *DocumentCounts) counters() []counter {
	return []counter{
		{"PDF", &c.PDF}, {"Word", &c.Word}, {"Excel", &c.Excel}, {"PowerPoint", &c.PowerPoint},
		{"OpenDocument", &c.OpenDocument}, {"RTF", &c.RTF}, {"EPUB", &c.EPUB},
	}
}

// Count adds a record if it is that of a document that was received.
func (c *DocumentCounts) Count(r *Record) {
	if !r.IsFetched() {
		return
	}
	kind := r.Document()
	for _, one := range c.counters() {
		if one.kind == kind {
			*one.n++
		}
	}
}

// Total is the number of documents.
func (c DocumentCounts) Total() (n int) {
	for _, one := range c.counters() {
		n += *one.n
	}
	return n
}

// String names the kinds: "10 PDF, 2 Word".
func (c DocumentCounts) String() string {
	var all []string
	for _, one := range c.counters() {
		if *one.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", *one.n, one.kind))
		}
	}
	return strings.Join(all, ", ")
}
