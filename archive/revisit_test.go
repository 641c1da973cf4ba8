package archive

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/warc"
)

// aRecord writes a record; head and body are of the response, a time is that of a day.
func aRecord(kind, url, time, fields, head, body string) string {
	block := "HTTP/1.1 " + head + "\r\n\r\n" + body
	of := "application/http"
	if kind == "resource" {
		block, of = body, "image/gif"
	}
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:%s:%s>\r\nWARC-Target-URI: %s\r\nWARC-Date: 2024-05-01T%sZ\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		kind, kind, time, url, time, fields, of, len(block), block)
}

// TestRevisits: an original is found by the digest of its payload wherever it is, by its URL and
// the nearest date, or by its identifier, whatever of these the revisit names.
func TestRevisits(t *testing.T) {
	const (
		sumA     = "WARC-Payload-Digest: sha1:JLCVE6TDO3K5KBBU4HTKMWCD2NXHDLMG\r\n" // any will do
		sumB     = "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n"
		hexA     = "WARC-Payload-Digest: SHA-1:4ac5527a6376d5d50434e1e6a65843d36e71ad86\r\n"
		other    = "WARC-Payload-Digest: md5:d41d8cd98f00b204e9800998ecf8427e\r\n"
		md5      = "WARC-Payload-Digest: md5:900150983cd24fb0d6963f7d28e17f72\r\n"  // of no record
		empty    = "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYK\r\n" // of no record
		page     = "200 OK\r\nContent-Type: text/html"
		same     = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
		notModif = "WARC-Profile: " + warc.NotModified + "\r\n"
	)
	originals := aRecord("response", "http://a.example/x", "01:00:00", sumA, page, "A of x") +
		aRecord("response", "http://a.example/x", "02:00:00", sumB, page, "B of x") +
		aRecord("response", "http://a.example/y", "01:00:00", "", page, "y at 1") +
		aRecord("response", "http://a.example/y", "05:00:00", "", page, "y at 5") +
		aRecord("resource", "http://a.example/z", "01:00:00", other, "", "z, a resource")
	to := func(url, time string) string {
		return "WARC-Refers-To-Target-URI: " + url + "\r\nWARC-Refers-To-Date: 2024-05-01T" + time + "Z\r\n"
	}
	for name, c := range map[string]struct{ url, fields, head, want string }{
		"digest":                      {"http://a.example/x", same + sumA, page, "A of x"},
		"digest of another":           {"http://a.example/x", same + sumB, page, "B of x"},
		"digest in hexadecimal":       {"http://a.example/x", same + hexA, page, "A of x"},
		"digest at another URL":       {"http://b.example/", same + sumA, page, "A of x"},
		"digest, spelling of the URL": {"https://www.a.example/x", same + sumA, page, "A of x"},
		"a second off":                {"http://b.example/", same + sumA + to("http://a.example/x", "00:59:59"), page, "A of x"},
		"the wrong URL named":         {"http://b.example/", same + sumA + to("http://a.example/none", "01:00:00"), page, "A of x"},
		"the wrong date named":        {"http://b.example/", same + sumA + to("http://a.example/x", "02:00:00"), page, "A of x"},
		"URL in brackets":             {"http://b.example/", same + sumA + to("<http://a.example/x>", "01:00:00"), page, "A of x"},
		"an identifier of elsewhere":  {"http://b.example/", same + sumA + "WARC-Refers-To: <urn:gone>\r\n", page, "A of x"},
		"not compared: nearest":       {"http://a.example/y", same + md5 + to("http://a.example/y", "04:59:58"), page, "y at 5"},
		"not compared: identifier":    {"http://a.example/y", same + md5 + "WARC-Refers-To: <urn:response:05:00:00>\r\n", page, "y at 5"},
		"not modified: nearest":       {"http://a.example/y", notModif + sumB + to("http://a.example/y", "01:00:01"), "304 Not Modified", "y at 1"},
		"not modified, nothing named": {"http://a.example/y", notModif, "304 Not Modified", "y at 5"},
		"not modified, of WARC 1.0":   {"http://a.example/x", strings.Replace(notModif, "1.1", "1.0", 1) + empty, "304 Not Modified", "B of x"},
		"a resource":                  {"http://b.example/", same + other, page, "z, a resource"},
		"nothing like it":             {"http://a.example/none", same + "WARC-Payload-Digest: sha1:2222222222222222222222222222222W\r\n", page, ""},
		"not this digest":             {"http://a.example/x", same + "WARC-Payload-Digest: sha1:2222222222222222222222222222222W\r\n", page, ""},
		"not this identifier":         {"http://a.example/y", same + md5 + "WARC-Refers-To: <urn:gone>\r\n", page, ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := originals + aRecord("revisit", c.url, "09:00:00", c.fields, c.head, "")
			want := c.want
			a, err := Open(filepath.Join(save(t, map[string]string{"a.warc": file}), "a.warc"))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			captures, err := a.Captures(c.url)
			if err != nil || len(captures) == 0 {
				t.Fatal(captures, err)
			}
			r, err := a.Read(captures[len(captures)-1])
			if err != nil {
				if want != "" || !strings.Contains(err.Error(), "is not in the archive") {
					t.Error(err)
				}
				return
			}
			defer r.Close()
			body, err := r.Body()
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(body); err != nil || string(text) != want || r.Message.Status() != 200 {
				t.Errorf("%q, %v, expected %q", text, err, want)
			}

			// What is found here, weft warc check does not miss.
			checker := warc.NewChecker()
			missed := 0
			if err := checker.File("a.warc", strings.NewReader(file), func(f warc.Fault) {}); err != nil {
				t.Fatal(err)
			}
			if checker.End(func(warc.Fault) { missed++ }); missed > 0 {
				t.Error("the checker misses the original")
			}
		})
	}
}
