package cdxj

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/warc"
)

// TestScanPosts: a POST has the key of its body, whether its request stands before its response or
// behind it, and no other record has.
func TestScanPosts(t *testing.T) {
	e := warc.NewEncoder(warc.Options{})
	var file []byte
	request := func(url, method, body string, of warc.ID) {
		block := fmt.Sprintf("%s / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n%s", method, body)
		file, _ = e.Note(file, &warc.Note{Type: warc.Request, URL: url, Date: noon, ContentType: "application/http;msgtype=request", ConcurrentTo: of, Block: []byte(block)})
	}
	response := func(url, request string) warc.ID {
		x := warc.Exchange{URL: url, Date: noon, Response: []byte("HTTP/1.1 200 OK\r\n\r\n" + url)}
		if request != "" {
			x.Request = []byte(request)
		}
		var c warc.Capture
		file, c = e.Exchange(file, &x)
		return c.ID
	}
	const post = "POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=behind"
	first := response("http://a.test/1", post)
	response("http://a.test/1", "GET / HTTP/1.1\r\n\r\n")
	request("http://a.test/2", "POST", "a=before", warc.ID{})
	response("http://a.test/2", "")
	request("http://a.test/3", "POST", "a=other", warc.ID{})
	response("http://a.test/4", "")
	response("http://a.test/1", "")
	request("http://a.test/1", "POST", "a=late", first) // of a response that is far
	lines, damage := scanned(t, file)
	var got []string
	for _, x := range lines {
		got = append(got, x.Key+" "+x.RequestBody)
	}
	want := []string{"test,a)/1?__wb_method=post&a=behind a=behind", "test,a)/1 ", "test,a)/2?__wb_method=post&a=before a=before", "test,a)/4 ", "test,a)/1 "}
	if !slices.Equal(got, want) || len(damage) > 0 {
		t.Errorf("got %q, damage %d", got, damage)
	}
}
