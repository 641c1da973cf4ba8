package archive_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/warc"
)

// TestFind: a URL is found in any spelling, then one like it that is no redirect, whether records
// have members of their own or not.
func TestFind(t *testing.T) {
	var file []byte
	e := warc.NewEncoder(warc.Options{})
	for i, url := range []string{"http://example.org/", "https://www.example.org/", "http://example.org/caf%c3%a9?q=%41", "urn:x"} {
		head := "200 OK"
		if i == 0 {
			head = "301 Moved\r\nLocation: https://www.example.org/"
		}
		file, _ = e.Exchange(file, &warc.Exchange{
			URL: url, Date: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
			Request: []byte("GET / HTTP/1.1\r\n\r\n"), Response: fmt.Appendf(nil, "HTTP/1.1 %s\r\n\r\nbody %d", head, i),
		})
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var shared bytes.Buffer
	w := gzip.NewWriter(&shared)
	w.Write(plain)
	w.Close()
	for name, text := range map[string][]byte{"members": file, "plain": plain, "shared": shared.Bytes(), "damage": append([]byte("?\r\n"), plain...)} {
		for url, want := range map[string]string{
			"http://example.org/":                    "body 0",
			"HTTP://Example.ORG:80":                  "body 0",
			"https://www.example.org/#top":           "body 1",
			"https://example.org/":                   "body 1",
			"http://www.example.org":                 "body 1",
			"http://example.org/caf\u00e9?q=A":       "body 2",
			"https://www.example.org/caf%C3%A9/?q=A": "body 2",
			"urn:x":                                  "body 3",
			"http://example.org/none":                "",
			"none":                                   "",
		} {
			r, err := archive.Find(bytes.NewReader(text), url)
			switch {
			case want == "":
				if !errors.Is(err, archive.ErrNoRecord) {
					t.Errorf("%s, %s: %v", name, url, err)
				}
			case err != nil:
				t.Errorf("%s, %s: %v", name, url, err)
			default:
				if body := bodyOf(t, r); body != want {
					t.Errorf("%s, %s: %s", name, url, body)
				}
			}
		}
	}
}

func bodyOf(t *testing.T, r *warc.Record) string {
	t.Helper()
	body, err := warc.MessageOf(r).Body()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadAt: an offset leads to a record, or to an error that names it.
func TestReadAt(t *testing.T) {
	var file []byte
	e := warc.NewEncoder(warc.Options{})
	at := []int{}
	for i := range 2 {
		at = append(at, len(file))
		file, _ = e.Exchange(file, &warc.Exchange{URL: "http://a.test/", Response: fmt.Appendf(nil, "HTTP/1.1 200 OK\r\n\r\nbody %d", i)})
	}
	in := bytes.NewReader(file)
	for i := range 2 {
		if r, err := archive.ReadAt(in, int64(at[i])); err != nil || bodyOf(t, r) != fmt.Sprint("body ", i) {
			t.Errorf("%d: %v", i, err)
		}
	}
	for offset, want := range map[int64]string{
		int64(len(file)):  fmt.Sprintf("offset %d: the file ends before", len(file)),
		int64(at[1]) + 1:  fmt.Sprintf("offset %d: ", at[1]+1),
		int64(at[1]) - 20: fmt.Sprintf("offset %d: ", at[1]-20),
	} {
		if _, err := archive.ReadAt(in, offset); err == nil || err.Error()[:len(want)] != want {
			t.Errorf("%d: %v, expected %s…", offset, err, want)
		}
	}
}
