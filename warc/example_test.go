package warc_test

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/weftcrawl/weft/warc"
)

func Example() {
	encoder := warc.NewEncoder(warc.Options{})
	file, _ := encoder.Exchange(nil, &warc.Exchange{
		URL: "https://example.org/", Date: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC),
		Request:  []byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
		Response: []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
	})
	for records := warc.NewReader(bytes.NewReader(file)); ; {
		record, err := records.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		fmt.Println(record.Type(), record.URL())
	}
	// Output:
	// response https://example.org/
	// request https://example.org/
}
