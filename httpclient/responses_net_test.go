package httpclient_test

import (
	"crypto/tls"
	"net/http"
	"testing"

	"github.com/weftcrawl/weft/httpclient"
)

// pieces are ways in which a network may cut a response.
var pieces = map[string]func(raw string) []string{
	"in one piece": func(raw string) []string { return []string{raw} },
	"in halves":    func(raw string) []string { return []string{raw[:len(raw)/2], raw[len(raw)/2:]} },
	"byte by byte": func(raw string) (bytes []string) {
		for i := range len(raw) {
			bytes = append(bytes, raw[i:i+1])
		}
		return bytes
	},
}

// expectResponse fetches a case of the table and checks the result.
func (b *browser) expectResponse(scheme string, c httpclient.ResponseCase) {
	b.t.Helper()
	method := "GET"
	if c.Head {
		method = "HEAD"
	}
	res, err := b.client.Do(b.task, httpclient.Request{Method: method, Scheme: scheme, Host: "www.example", Target: "/"})
	if c.Kind != "" {
		expectKind(b.t, err, c.Kind)
		return
	}
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Close()
	if res.Status != c.Status || string(res.Body) != c.Body || res.Wire != int64(len(c.Raw)) {
		b.t.Errorf("status %d, body %q, %d bytes; want %d, %q, %d", res.Status, res.Body, res.Wire, c.Status, c.Body, len(c.Raw))
	}
}

// TestResponsesOverTheNetwork checks that the client's verdict on each case of the table is the
// parser's, over TCP and, for the shorter cases, over TLS, whatever the segments and records. A
// connection is used again exactly when the table says so.
func TestResponsesOverTheNetwork(t *testing.T) {
	for _, c := range httpclient.Responses() {
		t.Run(c.Name, func(t *testing.T) {
			opt := httpclient.Options{MaxHead: httpclient.TestMaxHead, MaxBody: httpclient.TestMaxBody}
			for how, cut := range pieces {
				t.Run(how, func(t *testing.T) {
					kept := c.Kind == "" && !c.End && c.Rest == ""
					play(t, opt, func(s *site) {
						p := s.accept()
						if _, err := p.reader.ReadUntil(p.task, []byte("\r\n\r\n"), 4096); err != nil {
							t.Fatal(err)
						}
						for _, piece := range cut(c.Raw + c.Rest) {
							if !p.send(piece) {
								break
							}
						}
						if kept {
							p.serve("/again", ok("again"))
							return
						}
						p.close()
						s.serve("/again", ok("again"))
					}, func(b *browser) {
						b.expectResponse("http", c)
						b.reads("/again", "again")
					})
				})
				// Few cases over TLS: each record costs time.
				if how == "in one piece" || len(c.Raw) > 100 {
					continue
				}
				t.Run(how+", TLS", func(t *testing.T) {
					playTLS(t, func(o *httpclient.Options, _ *tls.Config) {
						o.MaxHead, o.MaxBody = opt.MaxHead, opt.MaxBody
					}, func(v *tlsSite) {
						s := v.admit()
						if _, err := http.ReadRequest(s.in); err != nil {
							t.Fatal(err)
						}
						for _, piece := range cut(c.Raw + c.Rest) {
							if _, err := s.Write([]byte(piece)); err != nil {
								break
							}
						}
						_ = s.CloseWrite()
					}, func(b *browser) { b.expectResponse("https", c) })
				})
			}
		})
	}
}
