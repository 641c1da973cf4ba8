package extract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// whiteSpace is HTML's ASCII white space.
const whiteSpace = " \t\n\f\r"

// MaxValue bounds a value, in bytes: of a longer one the beginning counts.
const MaxValue = 64 << 10

// unseen reports whether the text of an element is not read by people. That of a shadow root is.
func unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript:
		return true
	case atom.Template:
		return !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "shadowrootmode" })
	}
	return false
}

// inline are the elements that do not end a word.
func inline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd,
		atom.Mark, atom.Meter, atom.Q, atom.Ruby, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

// textOf returns the text in an element, with white space in one piece; cut: it was too long. What
// is no part of a line ends a word.
func (p *page) textOf(root *html.Node) (text string, cut bool) {
	var b strings.Builder
	for n := root; p.spend(1) && b.Len() <= MaxValue; {
		if n.Type == html.TextNode && p.spend(min(len(n.Data), MaxValue)>>4) {
			addText(&b, n.Data)
		}
		endsWord(&b, n)
		if n.FirstChild != nil && (n == root || !unseen(n)) {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			endsWord(&b, n)
		}
		if n == root {
			break
		}
		n = n.NextSibling
	}
	return bounded(strings.TrimRight(b.String(), " "))
}

// endsWord ends a word where an element begins or ends that is no part of a line.
func endsWord(b *strings.Builder, n *html.Node) {
	if n.Type == html.ElementNode && !inline(n.DataAtom) {
		gap(b)
	}
}

// gap ends a word.
func gap(b *strings.Builder) {
	if s := b.String(); s != "" && s[len(s)-1] != ' ' {
		b.WriteByte(' ')
	}
}

// addText adds a text with white space in one piece.
func addText(b *strings.Builder, s string) {
	for len(s) > 0 && b.Len() <= MaxValue {
		at := strings.IndexAny(s, whiteSpace)
		if at < 0 {
			b.WriteString(s)
			return
		}
		b.WriteString(s[:at])
		gap(b)
		s = strings.TrimLeft(s[at:], whiteSpace)
	}
}

// collapse returns a text with white space in one piece.
func collapse(s string) (text string, cut bool) {
	var b strings.Builder
	addText(&b, s)
	return bounded(strings.TrimRight(b.String(), " "))
}

// bounded cuts a text at MaxValue.
func bounded(s string) (text string, cut bool) {
	if len(s) > MaxValue {
		end := MaxValue
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s, cut = s[:end], true
	}
	return strings.ToValidUTF8(s, "\ufffd"), cut
}

// htmlOf returns an element with its tags.
func htmlOf(n *html.Node) (text string, cut bool) {
	w := &limited{}
	_ = html.Render(w, n) // it ends with the limit
	return bounded(string(w.b))
}

// limited is a writer with room for the longest value; then it fails.
type limited struct{ b []byte }

var errFull = fmt.Errorf("more than %d bytes", MaxValue)

func (w *limited) Write(b []byte) (int, error) {
	if len(w.b) > MaxValue {
		return 0, errFull
	}
	w.b = append(w.b, b...)
	return len(b), nil
}

// linked are the attributes of elements that lead somewhere.
var linked = map[atom.Atom]string{
	atom.A: "href", atom.Area: "href", atom.Link: "href", atom.Base: "href",
	atom.Img: "src", atom.Script: "src", atom.Iframe: "src", atom.Source: "src", atom.Video: "src", atom.Audio: "src", atom.Embed: "src", atom.Input: "src", atom.Track: "src",
	atom.Form: "action", atom.Object: "data", atom.Meta: "content",
}

// machine is the attribute in which an element says for machines what its text says for people.
var machine = map[atom.Atom]string{atom.Time: "datetime", atom.Data: "value", atom.Meter: "value", atom.Meta: "content", atom.Input: "value"}

// raw returns the text from which the value of a field is made.
func (p *page) raw(f *field, h hit) (text string, cut bool) {
	if h.isText {
		if f.Type == HTML {
			return bounded(h.text)
		}
		return collapse(h.text)
	}
	name := ""
	switch f.Type {
	case HTML:
		return htmlOf(h.node)
	case URL:
		name = linked[h.node.DataAtom]
	case Date, Number:
		name = machine[h.node.DataAtom]
	default:
		if h.node.DataAtom == atom.Meta {
			name = "content"
		}
	}
	if v, ok := attr(h.node, name); ok && name != "" {
		return collapse(v)
	}
	return p.textOf(h.node)
}

// convert makes a value of a text; nil: it is none.
func (p *page) convert(f *field, text string) any {
	if f.match != nil {
		if !p.spend(len(text) * (1 + f.cost>>8)) { // most of a long expression is asleep
			return nil
		}
		m := f.match.FindStringSubmatch(text)
		if m == nil {
			return nil
		}
		text = strings.Trim(m[len(m)-1], whiteSpace)
	}
	if text == "" {
		return nil
	}
	switch f.Type {
	case Number:
		if n, ok := ParseNumber(text); ok {
			return n
		}
		return nil
	case Date:
		if d, ok := parseDate(text, f.layout); ok {
			return d
		}
		return nil
	case URL:
		if to, ok := p.resolve(text); ok {
			return to
		}
		return nil
	}
	return text
}

// resolve returns an absolute URL. Each costs as much as the base is long.
func (p *page) resolve(ref string) (to string, ok bool) {
	base := p.baseURL()
	if !p.spend((len(base.String()) + len(ref)) >> 4) {
		return "", false
	}
	u, err := base.Resolve(ref)
	if err != nil || len(u.String()) > MaxValue {
		return "", false
	}
	return u.String(), true
}

// baseURL is the base of the page's relative URLs.
func (p *page) baseURL() weburl.URL {
	if p.base == nil {
		p.base = &p.url
		for _, n := range p.elements {
			if n.DataAtom != atom.Base {
				continue
			}
			if href, ok := attr(n, "href"); ok {
				if u, err := p.url.Resolve(href); err == nil && u.IsHTTP() {
					p.base = &u
				}
				break
			}
		}
	}
	return *p.base
}

// ParseNumber finds the first number in a text, as people of many countries write it: 1,234.50 and
// 1.234,50 and 1 234,50. A comma or a point that stands once, before three digits, groups if it is
// a comma, and is decimal if it is a point.
func ParseNumber(text string) (json.Number, bool) {
	digits := strings.Map(ascii, text)
	from := strings.IndexFunc(digits, func(r rune) bool { return r >= '0' && r <= '9' })
	if from < 0 {
		return "", false
	}
	run := digits[from:]
	end := strings.IndexFunc(run, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(".,' ", r) })
	if end >= 0 {
		run = run[:end]
	}
	run = upTo(run)
	before := digits[:from]
	negative := strings.HasSuffix(strings.TrimRight(before, " $€£¥"), "-")
	if c := strings.TrimSuffix(before, "."); c != before && !strings.HasSuffix(c, ".") { // .5
		run = "0." + strings.NewReplacer(",", "", " ", "", "'", "").Replace(run)
		negative = strings.HasSuffix(c, "-")
	} else {
		run = plain(run)
	}
	whole, fraction, point := strings.Cut(run, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if len(whole)+len(fraction) > 64 {
		return "", false
	}
	if point && fraction != "" {
		whole += "." + fraction
	}
	if negative && strings.Trim(whole, "0.") != "" {
		whole = "-" + whole
	}
	return json.Number(whole), true
}

// ascii maps digits, signs and spaces of other scripts to those of ASCII.
func ascii(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	case r == '−' || r == '‒' || r == '–':
		return '-'
	case r == '’':
		return '\''
	case r == '٫':
		return '.'
	case r == '٬':
		return ','
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsDigit(r):
		return digit(r)
	}
	return r
}

// digit returns a decimal digit of any script in ASCII: those of a script stand in a row of ten.
func digit(r rune) rune {
	zero := r
	for range 9 {
		if !unicode.IsDigit(zero - 1) {
			break
		}
		zero--
	}
	return '0' + (r-zero)%10
}

// upTo returns what belongs to the first number of a run of digits and separators: a space and an
// apostrophe only group three digits.
func upTo(run string) string {
	for i := 0; i < len(run); i++ {
		c := run[i]
		if c >= '0' && c <= '9' {
			continue
		}
		n := i + 1
		for n < len(run) && run[n] >= '0' && run[n] <= '9' {
			n++
		}
		if n == i+1 || (c == ' ' || c == '\'') && n != i+4 {
			return run[:i]
		}
	}
	return run
}

// plain returns a number with a point, if any, and digits.
func plain(run string) string {
	run = strings.NewReplacer(" ", "", "'", "").Replace(run)
	comma, point := strings.LastIndexByte(run, ','), strings.LastIndexByte(run, '.')
	decimal := byte(0)
	switch {
	case comma >= 0 && point >= 0: // the last one
		decimal = '.'
		if comma > point {
			decimal = ','
		}
	case comma >= 0 && strings.Count(run, ",") == 1 && len(run)-comma != 4:
		decimal = ','
	case point >= 0 && strings.Count(run, ".") == 1:
		decimal = '.'
	}
	at := -1
	if decimal != 0 {
		at = strings.LastIndexByte(run, decimal)
	}
	var b strings.Builder
	for i := range len(run) {
		switch c := run[i]; {
		case i == at:
			b.WriteByte('.')
		case c != ',' && c != '.':
			b.WriteByte(c)
		}
	}
	return b.String()
}

// layouts are the ways in which pages write dates: as in ISO 8601, RFC 9110 and RFC 5322, then as
// people do. A day that could be a month stands nowhere: see Field.Format.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006.01.02", "20060102", "2006-01", "2006年1月2日",
	time.RFC1123Z, time.RFC1123, time.RFC850, time.ANSIC, time.UnixDate, "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST",
	"January 2, 2006 15:04", "January 2, 2006 3:04 PM", "January 2, 2006 at 3:04 PM", "January 2, 2006, 3:04 PM", "January 2, 2006", "January 2 2006", "Jan 2, 2006, 3:04 PM", "Jan 2, 2006 3:04 PM", "Jan 2, 2006", "Jan. 2, 2006", "Jan 2 2006",
	"2 January 2006 15:04", "2 January 2006", "2 January, 2006", "2 Jan 2006 15:04", "2 Jan 2006", "2. January 2006", "2-Jan-2006", "Monday, January 2, 2006", "Monday, 2 January 2006", "Monday 2 January 2006", "Mon, 2 Jan 2006", "January 2006",
	"2.1.2006 15:04", "2.1.2006",
}

// mostDate bounds a text that may be a date, in bytes.
const mostDate = 100

// parseDate returns a date as in ISO 8601: a day, or a time, with its zone if it has one.
func parseDate(text, layout string) (string, bool) {
	if len(text) > mostDate {
		return "", false
	}
	all := layouts
	if layout != "" {
		all = []string{layout}
	}
	for _, layout := range all {
		t, err := time.Parse(layout, text)
		if err != nil || t.Year() < 1 {
			continue
		}
		switch hasTime, hasZone := strings.Contains(layout, "04"), strings.ContainsAny(layout, "Z") || strings.Contains(layout, "-0700") || strings.Contains(layout, "MST"); {
		case !strings.Contains(layout, "2") || !hasDay(layout):
			return t.Format("2006-01"), true
		case !hasTime:
			return t.Format("2006-01-02"), true
		case !hasZone:
			return t.Format("2006-01-02T15:04:05"), true
		}
		return t.Format(time.RFC3339), true
	}
	return "", false
}

// hasDay reports whether a layout has the day of a month: a 2 that is not of the year.
func hasDay(layout string) bool {
	return strings.Contains(strings.ReplaceAll(strings.ReplaceAll(layout, "2006", ""), "-0700", ""), "2")
}

// directives are those of strptime, as time.Parse has them.
var directives = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "1", 'B': "January", 'b': "Jan", 'd': "2", 'e': "2", 'H': "15", 'I': "3", 'M': "04", 'S': "05", 'p': "PM", 'z': "-0700", 'Z': "MST", 'A': "Monday", 'a': "Mon", '%': "%",
}

// layoutOf returns the layout of time.Parse for a format of strptime.
func layoutOf(format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) || directives[format[i]] == "" {
			return "", fmt.Errorf("column %d: %.2q, expected %%Y %%m %%d %%B %%b %%H %%M %%S or another of strptime", i, format[i-1:])
		}
		b.WriteString(directives[format[i]])
	}
	return b.String(), nil
}
