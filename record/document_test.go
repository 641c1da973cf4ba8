package record_test

import (
	"testing"

	"github.com/weftcrawl/weft/record"
)

func TestDocumentCounts(t *testing.T) {
	var c record.DocumentCounts
	for _, r := range []record.Record{
		{URL: "http://a.test/1", Status: 200, ContentType: "application/pdf"},
		{URL: "http://a.test/2", Status: 200, ContentType: "application/PDF; charset=x"},
		{URL: "http://a.test/3.PDF?x=1", Status: 200, ContentType: "application/octet-stream"},
		{URL: "http://a.test/4", Status: 200, SniffedType: "application/pdf", ContentType: "text/plain"},
		{URL: "http://a.test/5.docx", Status: 200, ContentType: "application/zip"},
		{URL: "http://a.test/6.pdf", Status: 404, ContentType: "application/pdf"}, // missing
		{URL: "http://a.test/7.pdf", Status: 200, ContentType: "text/html"},       // a page about it
		{URL: "http://a.test/8.bin", Status: 200, ContentType: "application/octet-stream"},
		{URL: "http://a.test/9", ContentType: "application/pdf", UnchangedBy: record.SameNotModified},
	} {
		c.Count(&r)
	}
	if got := c.String(); got != "5 PDF, 1 Word" || c.Total() != 6 {
		t.Errorf("%q, %d in all, expected 5 PDF and 1 Word", got, c.Total())
	}
}
