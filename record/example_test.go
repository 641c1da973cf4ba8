package record_test

import (
	"fmt"

	"github.com/weftcrawl/weft/record"
)

func Example() {
	r := record.Record{URL: "https://example.org/", Status: 200, Title: "Example, Inc.", Depth: 1}
	stream := record.NewStream(record.Form{Format: record.FormatCSV, Fields: []string{"url", "status", "title"}}, true)
	stream.Add(&r, nil) // a stream of JSON lines takes the line: r.AppendLine(nil)
	fmt.Printf("%s", stream.Take())
	// Output:
	// url,status,title
	// https://example.org/,200,"Example, Inc."
}
