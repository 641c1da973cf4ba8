package check

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/sitemap"
	"github.com/weftcrawl/weft/weburl"
)

// mostInSitemap bounds the entries of a sitemap: https://www.sitemaps.org/protocol.html. Its other
// limit, 50 MiB, is the one up to which package sitemap reads.
const (
	mostInSitemap = 50_000
	longestList   = 50 << 20
)

// robotsPath is the path of the file that names the sitemaps of a host, and usualSitemap that of
// one that is requested where it names none.
const (
	robotsPath   = "/robots.txt"
	usualSitemap = "/sitemap.xml"
)

// isOfRobots reports whether a record is of a sitemap that robots.txt has led to; with guessed, it
// may not have named it.
func isOfRobots(r *record.Record) (of, guessed bool) {
	from, err := weburl.Parse(r.From)
	if err != nil || from.Path() != robotsPath {
		return false, false
	}
	u, err := weburl.Parse(r.URL)
	return err == nil, err == nil && u.Path() == usualSitemap && u.Origin() == from.Origin()
}

// isMissingGuess reports whether a record is of a sitemap that nothing has named, and that is not
// there: nobody has said that it is.
func isMissingGuess(r *record.Record) bool {
	_, guessed := isOfRobots(r)
	return guessed && r.Status >= 400 && r.Status < 500
}

// fromRobots reports a URL that robots.txt has led to, and that is an error, or no sitemap.
func (s *site) fromRobots(r *record.Record, o *outcome) {
	of, guessed := isOfRobots(r)
	if !of || guessed && o.status < 500 || s.ignores(r.URL) {
		return // a site may have one page for all that it does not have
	}
	if o.verdict != OK {
		s.verdict(o, Finding{Page: r.From, URL: r.URL, Status: o.status, ErrorKind: o.kind, Error: o.err, Redirects: o.chain})
	} else if s.isNoSitemap(o) {
		s.found(Finding{Rule: BrokenSitemap, Page: r.URL, Message: "no sitemap, and robots.txt names it as one"})
	}
}

// isNoSitemap reports whether a target, behind its redirects, was received and is no sitemap.
func (s *site) isNoSitemap(o *outcome) bool {
	n := s.targets.find(o.end)
	return n != nil && o.verdict == OK && n.flags&(mayBeSitemap|isExternal) == 0
}

// sitemap checks a sitemap and its entries.
func (s *site) sitemap(u weburl.URL, r *record.Record, received *results.Response) {
	s.siteMaps++
	defer s.open(r.URL)()
	entries := 0
	read := sitemap.Read(sitemap.Document{Base: u, ContentType: r.Type(), Body: received.Body}, sitemap.Options{}, func(e sitemap.Entry) bool {
		if e.Kind != sitemap.Alternate {
			entries++
		}
		s.entry(r, &e)
		return s.err == nil
	})
	isFeed := read.Type == sitemap.RSS || read.Type == sitemap.Atom
	if !isFeed {
		s.asWritten(u, r, read.Type, received.Body)
	}
	f := Finding{Rule: BrokenSitemap, Page: r.URL}
	switch {
	case r.ErrorKind == "early-end":
		f.Message = "cut off: the connection ended before it did"
	case entries > mostInSitemap && !isFeed:
		f.Message = fmt.Sprintf("more than %s URLs, and search engines read no more", number(mostInSitemap))
	case !received.Whole:
		f.Rule, f.Message = NotRead, "the sitemap is not checked to its end: the job has only its beginning"
	case errors.Is(read.Err, sitemap.ErrLimit):
		f.Message = "too large: " + read.Err.Error()
	case read.Err != nil:
		f.Message = "cut off or malformed: " + strings.TrimPrefix(read.Err.Error(), sitemap.ErrBroken.Error()+": ")
	case read.Entries+read.Skipped == 0 && !isFeed:
		f.Message = "empty: it lists no URL"
	}
	if f.Message != "" {
		s.found(f)
	}
}

// entry checks an entry of a sitemap.
func (s *site) entry(r *record.Record, e *sitemap.Entry) {
	s.report.Totals.Links++
	f := Finding{Page: r.URL, Tag: "sitemap", Attr: "loc", URL: e.URL.String()}
	if s.ignores(f.URL) {
		return
	}
	if n := s.targets.find(s.targets.keyOf(e.URL)); n != nil && e.Kind != sitemap.Sitemap {
		n.flags |= inSitemap
	}
	o, err := s.look(e.URL)
	s.fail(err)
	f.Status, f.ErrorKind, f.Error, f.Redirects = o.status, o.kind, o.err, o.chain
	if e.Kind == sitemap.Sitemap && s.isNoSitemap(&o) {
		s.found(Finding{Rule: BrokenSitemap, Page: f.URL, Message: "no sitemap, and an index names it as one"})
	}
	if (o.verdict == OK || o.verdict == Unchecked) && len(o.chain) > 0 {
		f.Rule, f.Message = RedirectInSitemap, "the sitemap has a URL that redirects to "+o.chain[len(o.chain)-1].To
		s.found(f)
		return
	}
	if o.verdict == Broken && o.rule != Soft404 {
		o.rule = BrokenInSitemap
	}
	s.verdict(&o, f)
}

// asWritten checks the URLs of a sitemap as it has them: the protocol wants absolute ones. Package
// sitemap passes over some that are wrong, and resolves relative ones.
func (s *site) asWritten(u weburl.URL, r *record.Record, typ sitemap.Type, body []byte) {
	if !s.options.Rules.Has(InvalidURL) && !s.options.Rules.Has(BrokenSitemap) {
		return
	}
	relative, first := 0, Finding{}
	eachLoc(typ, r.Type(), body, func(raw string, line, column int) bool {
		f := Finding{Page: r.URL, Line: line, Column: column, Tag: "sitemap", Attr: "loc", URL: raw}
		to, err := u.Resolve(weburl.EscapeInvalid(raw))
		wrong, meant := mistyped(raw, to)
		switch {
		case s.ignores(raw):
		case wrong || err != nil || !to.IsHTTP():
			s.report.Totals.Links++
			f.Rule, f.Message = InvalidURL, "no valid URL"+didYouMean(meant)
			s.found(f)
		case !isAbsolute(raw):
			if relative++; relative == 1 {
				first = f
			}
		}
		return s.err == nil
	})
	if relative > 0 {
		first.Rule, first.Message = BrokenSitemap, fmt.Sprintf("%s, and the protocol wants absolute ones: %s", plural(relative, "relative URL"), first.URL)
		first.URL = ""
		s.found(first)
	}
}

func isAbsolute(url string) bool {
	for _, scheme := range [...]string{"http://", "https://"} {
		if len(url) >= len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// eachLoc calls use for the URLs of a sitemap as they are written, with their place, until it
// returns false. Of images and videos there are others, whose elements have another prefix.
func eachLoc(typ sitemap.Type, contentType string, body []byte, use func(raw string, line, column int) bool) {
	for range 2 { // as package sitemap
		if zipped, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(io.LimitReader(zipped, longestList)) // as far as it goes
		}
	}
	_, parameters, _ := strings.Cut(contentType, ";")
	if typ == sitemap.Text {
		text, _ := charset.UTF8("text/plain;"+parameters, body)
		line := 0
		for raw := range bytes.Lines(text) {
			line++
			if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] != '#' && !use(clipped(string(raw), longestURL), line, 1) {
				return
			}
		}
		return
	}
	text, _ := charset.UTF8("application/xml;"+parameters, body)
	x := markup.XML{Body: text}
	var prefix []byte // of the root
	at, from, line, column := 0, 0, 1, 1
	for root, in := true, false; ; root = false {
		kind := x.Next()
		if raw := bytes.TrimSpace(x.Text); in && len(raw) > 0 && !x.TooLong && !x.Cut {
			between := text[at:from] // all of the text is counted once, also where it has one line
			if end := bytes.LastIndexByte(between, '\n'); end >= 0 {
				line, column, between = line+bytes.Count(between, []byte("\n")), 1, between[end+1:]
			}
			at, column = from, column+utf8.RuneCount(between)
			if !use(string(raw), line, column) {
				return
			}
		}
		in = false
		if kind == markup.EOF {
			return
		}
		local := markup.LocalName(x.Name)
		of := x.Name[:len(x.Name)-len(local)]
		if root {
			prefix = of
		}
		if kind == markup.StartTag && !x.Empty && markup.EqualFold(local, "loc") && bytes.Equal(of, prefix) {
			in, from = true, x.Pos
			x.Collect(longestURL)
		}
	}
}
