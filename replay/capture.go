package replay

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/rewrite"
	"github.com/weftcrawl/weft/internal/sniff"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// mostRewritten bounds a document that is rewritten, in bytes.
const mostRewritten = 32 << 20

// The rights of a sandboxed page. The addresses in one that is served as it was archived lead to
// the Web: without scripts and forms, nothing but a click on a link goes there.
const (
	mayRun  = "allow-scripts allow-forms allow-downloads"
	mayShow = "allow-downloads"
)

// sandbox sets what holds for archived pages. Its directives are a list of what is allowed.
func sandbox(h http.Header, r *http.Request, may string) {
	h.Del("Cross-Origin-Opener-Policy")
	h.Del("X-Content-Type-Options")
	from := "http://" + r.Host
	h.Set("Content-Security-Policy", "sandbox "+may+"; "+
		"default-src "+from+" data: blob: 'unsafe-inline' 'unsafe-eval'; form-action "+from+"; base-uri "+from+"; webrtc 'block'")
	// The origin of a sandboxed page is opaque. Fonts and modules need leave for any origin but
	// their own; no page can read what it loads so.
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest == "font" || dest == "script" {
		h.Set("Access-Control-Allow-Origin", "*")
	}
}

// capture serves a capture.
func (s *Server) capture(w http.ResponseWriter, r *http.Request, a asked, c archive.Capture) {
	record, err := s.archive.Read(c)
	if err != nil {
		sandbox(w.Header(), r, mayRun)
		s.fail(w, http.StatusInternalServerError, err)
		return
	}
	shown := false
	if a.view == rewritten && isPage(record) {
		// Its scripts have run, and would not find what they need in the sandbox.
		if doc, err := s.archive.Rendered(c); err == nil {
			record.Close()
			record, shown = doc, true
		}
	}
	defer record.Close()
	base, err := weburl.Parse(c.URL)
	if err != nil {
		base = a.url
	}
	sent, h := answerOf(record), w.Header()
	may := mayRun
	if a.view == identical {
		may = mayShow
	}
	sandbox(h, r, may)
	if shown {
		h.Add("Content-Security-Policy", "script-src http://"+r.Host+s.root+"-/page.js")
	}
	h.Set("Memento-Datetime", c.Date.Format(http.TimeFormat)) // RFC 7089
	prefix := s.root + a.date + string(a.view) + "/"
	if to, err := base.Resolve(weburl.EscapeInvalid(sent.header.Get("Location"))); err == nil && sent.status/100 == 3 && to.IsHTTP() {
		h.Set("Location", pathOf(prefix, to.String()))
	}
	for _, name := range []string{"Content-Disposition", "Content-Language", "X-Content-Type-Options"} {
		if value := sent.header.Get(name); value != "" {
			h.Set(name, value)
		}
	}
	d := document{base: base, body: bufio.NewReaderSize(sent.body, 64<<10), contentType: sent.header.Get("Content-Type")}
	if sent.coding != "" {
		h.Set("Content-Encoding", sent.coding)
	} else if a.view == rewritten {
		d.rewrite(prefix, sent.header.Get("X-Content-Type-Options"), fmt.Sprintf(`<script src="%s-/page.js" data-date="%s"></script>`, s.root, c.Date.Format(digits)))
	}
	switch mediaType, _, _ := strings.Cut(strings.ToLower(d.contentType), ";"); strings.TrimSpace(mediaType) {
	case "multipart/x-mixed-replace", "application/signed-exchange":
		// Their parts bring fields of their own.
		d.contentType = "application/octet-stream"
	}
	if h["Content-Type"] = nil; d.contentType != "" {
		h.Set("Content-Type", d.contentType)
	}
	if d.text != nil {
		sent.size = -1
	}
	sent.body = io.MultiReader(bytes.NewReader(d.text), d.body)
	s.send(w, r, c, sent)
}

// isPage reports whether a record is that of an HTML page, which may have been rendered.
func isPage(record *archive.Record) bool {
	if record.Message == nil || record.Message.Status()/100 != 2 {
		return false
	}
	mediaType, _, _ := strings.Cut(strings.ToLower(record.Message.Header.Get("Content-Type")), ";")
	return strings.TrimSpace(mediaType) == "text/html" || strings.TrimSpace(mediaType) == "application/xhtml+xml"
}

// answer is an archived response as a replay sends it.
type answer struct {
	header warc.Header // as archived
	status int
	body   io.Reader
	size   int64  // of the body; -1: not known
	coding string // the content coding of the body, if it is not known here
}

func answerOf(record *archive.Record) answer {
	a := answer{header: warc.Header{{Name: "Content-Type", Value: record.Record.Header.Get("Content-Type")}}, status: http.StatusOK, size: -1}
	if m := record.Message; m != nil {
		a.header, a.status = m.Header, m.Status()
	}
	var err error
	if a.body, err = record.Body(); err != nil {
		a.coding = a.header.Get("Content-Encoding")
	}
	if a.header.Get("Content-Encoding") == "" && a.header.Get("Transfer-Encoding") == "" {
		a.size = record.Size
	}
	switch {
	case a.status < 200, a.status > 599, a.status == http.StatusNoContent, a.status == http.StatusPartialContent,
		a.status == http.StatusNotModified, a.status == http.StatusProxyAuthRequired:
		a.status = http.StatusOK // these are answers to another request, or to none
	}
	return a
}

// send sends an answer whose fields are set.
func (s *Server) send(w http.ResponseWriter, r *http.Request, c archive.Capture, a answer) {
	a.cut(w.Header(), r)
	w.WriteHeader(a.status)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, a.body); err != nil {
		s.note(fmt.Errorf("%s: offset %d: %w", c.Filename, c.Offset, err))
	}
}

// document is a capture that may be rewritten.
type document struct {
	base        weburl.URL
	contentType string
	text        []byte // rewritten: stands before the body
	body        *bufio.Reader
}

// rewrite rewrites HTML, SVG and CSS.
func (d *document) rewrite(prefix, options, insert string) {
	mediaType, _, _ := strings.Cut(d.contentType, ";")
	if mediaType = strings.ToLower(strings.TrimSpace(mediaType)); !strings.Contains(mediaType, "/") {
		start, _ := d.body.Peek(2048) // more than a look at the content needs
		mediaType = sniff.Type(d.contentType, options, start)
	}
	html := mediaType == "text/html" || mediaType == "application/xhtml+xml"
	if !html && !slices.Contains([]string{"text/css", "image/svg+xml"}, mediaType) {
		return
	}
	// What is beyond the limit, and behind an error, is left out.
	text, _ := io.ReadAll(io.LimitReader(d.body, mostRewritten))
	d.body.Reset(strings.NewReader(""))
	encoding, _ := charset.Determine(d.contentType, text)
	switch encoding.Name() {
	case "utf-16le", "utf-16be", "iso-2022-jp":
		// A byte that looks like ASCII may be another character.
		text, encoding = encoding.Decode(text), charset.Lookup("utf-8")
		d.contentType = mime.FormatMediaType(mediaType, map[string]string{"charset": "utf-8"})
	}
	p := rewrite.Policy{Base: true, Confine: true, URL: func(u weburl.URL, _ rewrite.Use) (string, rewrite.Fate) {
		return pathOf(prefix, u.String()), rewrite.Replace
	}}
	if html {
		p.Insert = insert
	}
	w := rewrite.New(&p, d.base, encoding, strings.HasSuffix(mediaType, "xml"))
	if mediaType == "text/css" {
		d.text = w.AppendCSS(nil, text)
	} else {
		d.text = w.HTML(text)
	}
}
