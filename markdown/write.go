package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer writes paragraphs of runs, one after another. It keeps its buffers.
type writer struct {
	text       []byte // of the run
	start, end int    // of the paragraph in it
	cell       bool   // it is one of a table

	spans   []span
	events  []event
	deleted bool // it has text that is deleted
	urls    bool // it may have bare URLs
	links   int  // that are open
	note    bool // the text written last refers to a footnote
	out     []byte

	open  []int // spans, in order
	again int   // bytes of links that go on from another paragraph
}

// event is the beginning or the end of a span.
type event struct {
	at   int
	span int
	ends bool
}

// paragraphs writes a run, and begins another, in a cell or not. Two breaks end a paragraph, and
// with it the spans in it, which go on in the next.
func (w *writer) paragraphs(r *run, cell bool) (all []string) {
	w.text, w.cell = r.text, cell
	rest := r.spans
	var around []span // of paragraphs before, that go on
	for start := 0; start < len(w.text); {
		end := len(w.text)
		if i := bytes.Index(w.text[start:], []byte("\n\n")); i >= 0 {
			end = start + i
		}
		w.start, w.end = trim(w.text, start, end)
		start = end + len("\n\n")
		new := 0
		for new < len(rest) && rest[new].start < end {
			new++
		}
		spans := rest[:new]
		if rest = rest[new:]; len(around) > 0 {
			spans = append(around, spans...)
		}
		switch {
		case w.start == w.end:
		case r.plain:
			all = append(all, string(w.text[w.start:w.end]))
		default:
			all = append(all, w.paragraph(spans))
		}
		if around = nil; start < len(w.text) {
			around = slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return s.end <= end })
			for i := range around {
				around[i].again = true
			}
		}
	}
	r.begin()
	return all
}

// paragraph writes the paragraph with the spans in it.
func (w *writer) paragraph(spans []span) string {
	w.out, w.links, w.note, w.deleted = w.out[:0], 0, false, false
	w.clip(spans)
	w.order()
	w.settle()
	part := w.text[w.start:w.end]
	w.urls = bytes.Contains(part, []byte("://")) || bytes.Contains(part, []byte("www."))
	at := w.start
	for i := range w.events {
		e := &w.events[i]
		if e.at > at {
			w.plain(w.text[at:e.at], w.first(i), w.endsWord(i))
			at = e.at
		}
		w.mark(e)
		if k := w.spans[e.span].kind; (k == code || k == raw) && !e.ends {
			at = w.spans[e.span].end
		}
	}
	w.plain(w.text[at:w.end], 0, true)
	return string(w.out)
}

// endsWord reports whether an event stands at the end of a word: with all that stand there, marks
// end, which readers do not take for a part of a bare URL.
func (w *writer) endsWord(i int) bool {
	for ; w.events[i].ends && w.spans[w.events[i].span].kind.isMark(); i++ {
		if w.follows(i, i+1) {
			continue
		}
		after := w.after(i)
		return after == ' ' || w.cell && w.events[i].at < w.end && w.text[w.events[i].at] == '\n'
	}
	return false
}

// clip keeps what of the spans is in the paragraph, without white space at its edges.
func (w *writer) clip(spans []span) {
	w.spans = w.spans[:0]
	for i, s := range spans {
		s.start, s.end = max(s.start, w.start), min(s.end, w.end)
		if s.kind != raw {
			s.start, s.end = trim(w.text, s.start, s.end)
		}
		if s.kind == raised && i+1 < len(spans) && spans[i+1].kind == raw && spans[i+1].start == s.start && spans[i+1].end == s.end &&
			isNoteMark(w.text[s.start:s.end]) {
			continue // which says itself that it is raised
		}
		if s.kind == linked && s.again {
			if w.again += len(s.target) + len(s.title); w.again > mostTargets {
				continue
			}
		}
		if s.start < s.end {
			w.spans = append(w.spans, s)
			w.deleted = w.deleted || s.kind == deleted
		}
	}
}

// order lists the events.
func (w *writer) order() {
	w.events = w.events[:0]
	open := w.open[:0]
	for i := range len(w.spans) + 1 {
		for len(open) > 0 && (i == len(w.spans) || w.spans[open[len(open)-1]].end <= w.spans[i].start) {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			w.events = append(w.events, event{w.spans[last].end, last, true})
		}
		if i < len(w.spans) {
			w.events = append(w.events, event{w.spans[i].start, i, false})
			open = append(open, i)
		}
	}
	w.open = open
}

// join makes one span of two of a kind, where nothing is between them.
func (w *writer) join() {
	joined := w.events[:0]
	var into map[int]int
	for _, e := range w.events {
		if first, ok := into[e.span]; ok {
			e.span = first
		}
		if n := len(joined); n > 0 && !e.ends && joined[n-1].ends && joined[n-1].at == e.at {
			before, s := joined[n-1].span, w.spans[e.span]
			if s.kind == w.spans[before].kind && s.kind.joins() {
				w.spans[before].end = s.end
				if into == nil {
					into = make(map[int]int)
				}
				into[e.span] = before
				joined = joined[:n-1]
				continue
			}
		}
		joined = append(joined, e)
	}
	w.events = joined
}

// joins reports whether two spans of a kind say the same as one.
func (k kind) joins() bool { return k.isMark() || k == code }

// isMark reports whether a span is marked by characters that may belong to the text.
func (k kind) isMark() bool { return k == strong || k == emphasis || k == deleted }

// mostRounds bounds the work of settle; marks that depend on one another further are left out.
const mostRounds = 8

// settle leaves out marks that would not be read as such: that depends on the characters beside
// them, and these on other marks.
func (w *writer) settle() {
	for round := 0; len(w.events) > 0; round++ {
		w.join()
		var gone map[int]bool
		var runs []int // marks in the runs that began the spans which are open
		for i := range w.events {
			e := &w.events[i]
			k := w.spans[e.span].kind
			if !k.isMark() || gone[e.span] {
				continue
			}
			length, ok := w.holds(i, slices.Contains(runs, 2))
			if !ok || round == mostRounds {
				if gone == nil {
					gone = make(map[int]bool)
				}
				gone[e.span] = true
			}
			switch {
			case k == deleted:
			case e.ends:
				runs = runs[:len(runs)-1]
			case ok:
				runs = append(runs, length)
			}
		}
		if len(gone) == 0 {
			return
		}
		w.events = slices.DeleteFunc(w.events, func(e event) bool { return gone[e.span] })
	}
}

// holds reports whether a mark would be read as one, by CommonMark 0.31, section 6.2, and how many
// marks stand together there. Within emphasis that began with three characters, a mark that could
// also end something would end that.
func (w *writer) holds(i int, three bool) (length int, ok bool) {
	e, char := w.events[i], w.first(i)
	first, last := i, i
	for w.follows(first-1, first) && w.events[first-1].ends == e.ends && w.first(first-1) == char {
		first--
	}
	for w.follows(last, last+1) && w.events[last+1].ends == e.ends && w.first(last+1) == char {
		last++
	}
	before, after := w.before(first), w.after(last)
	length = last - first + 1
	switch {
	case e.ends:
		return length, flanks(after, before)
	case w.follows(first-1, first) && before == char: // the run would be a longer one
		return length, false
	}
	return length, flanks(before, after) && !(three && flanks(after, before))
}

// follows reports whether nothing is between two events in a row.
func (w *writer) follows(i, j int) bool {
	return i >= 0 && j < len(w.events) && w.events[i].at == w.events[j].at
}

// before returns the character before an event, a blank at the beginning.
func (w *writer) before(i int) rune {
	at := w.events[i].at
	if w.follows(i-1, i) {
		switch s := &w.spans[w.events[i-1].span]; {
		case s.kind.isMark():
			return w.first(i - 1)
		case s.kind == raised:
			return '>'
		case s.kind == linked && w.events[i-1].ends:
			return ')'
		case s.kind == linked:
			return '['
		case s.kind == code:
			return '`'
		}
	}
	if at == w.start {
		return ' '
	}
	r, _ := utf8.DecodeLastRune(w.text[:at])
	if r == '\n' && w.cell {
		return '>' // of breakTag
	}
	return r
}

// after returns the character behind an event, a blank at the end.
func (w *writer) after(i int) rune {
	at := w.events[i].at
	if w.follows(i, i+1) {
		return w.first(i + 1)
	}
	if at == w.end {
		return ' '
	}
	r, _ := utf8.DecodeRune(w.text[at:])
	if r == '\n' {
		return '\\' // or breakTag
	}
	return r
}

// first returns the first character that is written of an event.
func (w *writer) first(i int) rune {
	e := &w.events[i]
	switch s := &w.spans[e.span]; s.kind {
	case strong, emphasis:
		return '*'
	case deleted:
		return '~'
	case raised:
		return '<'
	case linked:
		if e.ends {
			return ']'
		}
		return '['
	case code:
		return '`'
	}
	r, _ := utf8.DecodeRune(w.text[e.at:w.end])
	return r
}

// flanks reports whether a mark between two characters belongs to the inner one: CommonMark 0.31,
// section 6.2.
func flanks(outer, inner rune) bool {
	if unicode.IsSpace(inner) {
		return false
	}
	return !isPunctuation(inner) || unicode.IsSpace(outer) || isPunctuation(outer)
}

func isPunctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// mark writes an event. Code and what is raw is written when it begins.
func (w *writer) mark(e *event) {
	s := &w.spans[e.span]
	w.note = false
	switch s.kind {
	case strong:
		w.out = append(w.out, "**"...)
	case emphasis:
		w.out = append(w.out, '*')
	case deleted:
		w.out = append(w.out, "~~"...)
	case raised:
		w.out = append(w.out, '<')
		if e.ends {
			w.out = append(w.out, '/')
		}
		w.out = append(append(w.out, s.target...), '>')
	case linked:
		if !e.ends {
			w.links++
			w.out = append(w.out, '[')
			return
		}
		w.links--
		w.out = append(w.out, ']')
		w.reference(s.target, s.title, w.text[s.start:s.end])
	case code:
		if !e.ends {
			w.out = appendCode(w.out, string(w.text[s.start:s.end]), w.cell)
		}
	case raw:
		if !e.ends {
			w.out = append(w.out, w.text[s.start:s.end]...)
		}
		w.note = isNoteMark(w.text[s.start:s.end])
	}
}

// plain writes text, which is followed by a character, or 0: by nothing; ends says that a word ends
// there. Bare URLs, which GitHub makes links of, are written so that these end where they do: with
// what is escaped in them, between angle brackets, or as no links, where something else follows
// directly.
func (w *writer) plain(text []byte, next rune, ends bool) {
	if len(text) == 0 {
		return
	}
	if w.note && (text[0] == ':' || text[0] == '(') { // a definition, a link
		w.out = append(w.out, '\\')
	}
	w.note = false
	for w.urls && w.links == 0 {
		start, end, colon := bareURL(text)
		if start < 0 {
			break
		}
		url := text[start:end]
		w.escaped(text[:start], rune(url[0]))
		free := start > 0 || len(w.out) == 0 || isSpace(w.out[len(w.out)-1])
		if text = text[end:]; len(text) > 0 {
			// The backslash of a break or of < would be a part of it.
			ends := text[0] == ' ' || text[0] == '\n' && w.cell
			w.url(url, colon-start, rune(text[0]), free, ends)
			continue
		}
		w.url(url, colon-start, next, free, ends || next == '<')
	}
	w.escaped(text, next)
}

// url writes a bare URL; free says that no mark is before it, and ends that none is behind it.
func (w *writer) url(url []byte, colon int, next rune, free, ends bool) {
	at := len(w.out)
	w.escaped(url, next)
	if ends && len(w.out)-at == len(url) {
		return
	}
	w.out = w.out[:at]
	link := bytes.TrimRight(url, `?!.,:;*_~'")`)
	if free && (next == 0 || next == ' ' || next == '\n' || next == '<') && url[colon] == ':' && len(link) > colon+3 && isAddress(link) {
		w.out = append(append(append(w.out, '<'), link...), '>')
		w.escaped(url[len(link):], next)
		return
	}
	for colon >= 0 {
		w.escaped(url[:colon], rune(url[colon]))
		w.out = append(w.out, '\\')
		url = url[colon:]
		_, colon = scheme(url, 1)
	}
	w.escaped(url, next)
}

// isAddress reports whether a URL stands for itself between angle brackets.
func isAddress(url []byte) bool {
	for i, b := range url {
		if b == '>' || b == '|' || b == '\\' || b == '&' && isReference(string(url[i:min(len(url), i+longestReference)])) {
			return false
		}
	}
	return true
}

// bareURL finds what looks like a URL in text, with the colon behind its scheme, or the full stop
// behind www; start < 0: nothing does.
func bareURL(text []byte) (start, end, colon int) {
	if start, colon = scheme(text, 0); start < 0 {
		return start, 0, colon
	}
	end = len(text)
	if i := bytes.IndexAny(text[colon:], " \n<"); i >= 0 {
		end = colon + i
	}
	return start, end, colon
}

// scheme finds the scheme of a URL, and the colon behind it, or www and the full stop, from a place
// on.
func scheme(text []byte, from int) (start, colon int) {
	for at := from; at < len(text); at++ {
		switch text[at] {
		case '.':
			if start = at - len("www"); start >= from && string(text[start:at]) == "www" {
				return start, at
			}
		case ':':
			if !bytes.HasPrefix(text[at:], []byte("://")) {
				continue
			}
			for start = at; start > from && at-start < len("https") && isLetter(text[start-1]); {
				start--
			}
			switch strings.ToLower(string(text[start:at])) {
			case "http", "https", "ftp":
				return start, at
			}
		}
	}
	return -1, -1
}

// trim returns a part of text without white space at its edges.
func trim(text []byte, start, end int) (int, int) {
	for start < end && isSpace(text[start]) {
		start++
	}
	for start < end && isSpace(text[end-1]) {
		end--
	}
	return start, end
}
