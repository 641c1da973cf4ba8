package lab

import (
	"bytes"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for _, test := range []struct{ url, host, line string }{
		{"http://a.example", "a.example:80", "GET / HTTP/1.0"},
		{"http://a.example:8080/x?y=1#z", "a.example:8080", "GET /x?y=1 HTTP/1.0"},
		{"http://[::1]:81/%20", "[::1]:81", "GET /%20 HTTP/1.0"},
		{"https://a.example/", "", ""},
		{"http:///path", "", ""},
		{"http://a.example/\r\nX: y", "", ""},
		{"mailto:someone", "", ""},
	} {
		target, err := ParseTarget(test.url)
		if (err != nil) != (test.host == "") || target.Host != test.host {
			t.Errorf("%q: %q, %v; expected %q", test.url, target.Host, err, test.host)
		}
		if line, _, _ := strings.Cut(string(target.Request), "\r\n"); line != test.line {
			t.Errorf("%q: %q, expected %q", test.url, line, test.line)
		}
	}
}

func TestParsePage(t *testing.T) {
	for _, test := range []struct {
		name, response string
		status         int
		body           string
		whole          bool
	}{
		{"plain", "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", 200, "body", true},
		{"no reason", "HTTP/1.0 404\r\n\r\n", 404, "", true},
		{"whole", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody", 200, "body", true},
		{"early end", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody", 200, "body", false},
		{"more than it says", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nbody", 200, "bo", true},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nbody", 200, "body", true},
		{"length of what was not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, "", true},
		{"nothing", "", 0, "", false},
		{"end in the header", "HTTP/1.1 200 OK\r\nA: b\r\n", 0, "", false},
		{"another protocol", "SSH-2.0-x\r\n\r\n", 0, "", false},
		{"status zero", "HTTP/1.1 000 OK\r\n\r\n", 0, "", false},
		{"no number", "HTTP/1.1 OK\r\n\r\n", 0, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := ParsePage("http://a.example/", []byte(test.response))
			if p.Status != test.status || string(p.Body) != test.body || (p.Err == nil) != test.whole {
				t.Errorf("%d %q, %v; expected %d %q, whole: %v", p.Status, p.Body, p.Err, test.status, test.body, test.whole)
			}
		})
	}
}

// FuzzParsePage: for any bytes, body and header are parts of them, there is a status or an error,
// and no link leads to another host or has a fragment.
func FuzzParsePage(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 17\r\n\r\n<a href=../b#c>d<"))
	f.Add([]byte("HTTP/1.0 301 Moved\r\nLocation: //a.example/x#y\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 -1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, response []byte) {
		p := ParsePage("http://a.example/p/q", response)
		if !bytes.Contains(response, p.Body) || !bytes.Contains(response, p.Header) {
			t.Errorf("header %q and body %q are not of the response", p.Header, p.Body)
		}
		if p.Status == 0 && p.Err == nil {
			t.Error("neither a status nor an error")
		}
		for _, next := range p.Next() {
			if !strings.HasPrefix(next, "http://a.example/") || strings.Contains(next, "#") {
				t.Errorf("leads to %q", next)
			}
		}
	})
}
