package diff

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// figures are the words of a text, with each run of words that may differ at each visit as one.
type figures struct {
	shape []string // words; "#" stands for a run
	runs  []string // these, in order
	at    []int    // the place of each in shape
}

const blank = "#"

// figuresOf reads a text.
func figuresOf(text string) (f figures) {
	from := -1 // of the run, in all
	all := strings.Fields(text)
	end := func(to int) {
		if from >= 0 {
			f.at = append(f.at, len(f.shape))
			f.shape = append(f.shape, blank)
			f.runs = append(f.runs, strings.Join(all[from:to], " "))
			from = -1
		}
	}
	for i, word := range all {
		if isFigure(word) {
			if from < 0 {
				from = i
			}
			continue
		}
		end(i)
		f.shape = append(f.shape, word)
	}
	end(len(all))
	return f
}

// shapeOf is the text with "#" for its figures.
func (f *figures) String() string { return strings.Join(f.shape, " ") }

// context hashes a run with the two words on either side of it. Where there are none, the place of
// the fact counts. Seed is of the field.
func (f *figures) context(seed, place uint64, run int) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	at := f.at[run]
	some := false
	for i := at - 2; i <= at+2; i++ {
		if i >= 0 && i < len(f.shape) {
			d.WriteString(f.shape[i])
			some = some || f.shape[i] != blank
		}
		d.WriteString("\x00")
	}
	if some {
		return d.Sum64()
	}
	return place
}

// around returns the words around a run, with "#" in its place and "…" in that of others.
func (f *figures) around(run int) string {
	at := f.at[run]
	words := slices.Clone(f.shape[max(0, at-2):min(len(f.shape), at+3)])
	for i, word := range words {
		if word == blank {
			words[i] = "…"
		}
	}
	words[min(at, 2)] = blank
	return cutText(strings.Join(words, " "))
}

// isMoney reports whether a run is an amount of money: that is no churn.
func (f *figures) isMoney(run int) bool {
	if hasCurrency(f.runs[run]) {
		return true
	}
	at := f.at[run]
	return at > 0 && isCurrency(f.shape[at-1]) || at+1 < len(f.shape) && isCurrency(f.shape[at+1])
}

func hasCurrency(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Sc, r) })
}

func isCurrency(word string) bool {
	return hasCurrency(word) || currencies[strings.Trim(word, ".,;:()")]
}

var currencies = setOf("EUR USD GBP CHF JPY CNY INR CAD AUD NZD SEK NOK DKK PLN CZK HUF RUB TRY BRL MXN ZAR Euro euro euros dollars Fr kr kr. zł Kč Ft lei")

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// isFigure reports whether a word may be part of a date, a time, a counter or a token.
func isFigure(word string) bool {
	for i := range len(word) {
		if '0' <= word[i] && word[i] <= '9' {
			return true
		}
	}
	if len(word) > 24 {
		return isOpaque(word)
	}
	return ofTime[strings.ToLower(strings.Trim(word, ".,;:()[]"))] || !isASCII(word) && strings.ContainsFunc(word, unicode.IsDigit)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// ofTime are the words of dates and times. That a word is among them says nothing yet: churn is
// known by comparing.
var ofTime = setOf(`january february march april may june july august september october november december
	jan feb mar apr jun jul aug sep sept oct nov dec
	monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
	januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
	janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche
	enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo
	gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre lunedì martedì mercoledì giovedì venerdì sabato domenica
	second seconds sec secs minute minutes min mins hour hours hr hrs day days week weeks month months year years ago
	sekunden minuten stunden stunde tag tage tagen am pm a.m p.m utc gmt cet cest just now today yesterday heute gestern`)

// isStamp reports whether a run says when, or is a token that nobody reads. Other runs are numbers.
func isStamp(run string) bool {
	for word := range strings.FieldsSeq(run) {
		word = strings.Trim(word, ".,;:()[]")
		if ofTime[strings.ToLower(word)] || isOpaque(word) || isClock(word) {
			return true
		}
	}
	return false
}

// isClock reports whether a word is a date or a time of day: 12:30, 2026-11-21, 21.11.2026,
// 1795698000.
func isClock(word string) bool {
	marks, digits := 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c == ':':
			marks += 2
		case c == '-', c == '/', c == '.':
			marks++
		}
	}
	return digits > 2 && marks >= 2 || digits == len(word) && (digits == 10 || digits == 13) && word[0] == '1'
}

// isOpaque reports whether a word is a token: long, of hexadecimal digits or of letters and digits
// in no order.
func isOpaque(word string) bool {
	if len(word) < 16 {
		return false
	}
	hex, digits, turns := true, 0, 0
	before := byte(0)
	for i := range len(word) {
		c := word[i]
		class := byte('a')
		switch {
		case '0' <= c && c <= '9':
			class = '0'
			digits++
		case 'A' <= c && c <= 'Z':
			class = 'A'
		case 'a' <= c && c <= 'z':
		case c == '-' || c == '_' || c == '+' || c == '/' || c == '=' || c == '.' || c == '%' || c == '~':
			class = before
		default:
			return false
		}
		if class != before {
			turns++
		}
		before = class
		if (c|0x20 < 'a' || c|0x20 > 'f') && class != '0' && c != '-' {
			hex = false
		}
	}
	return hex && digits > 2 || turns*4 >= len(word)
}

// shapeOfURL is a URL with "#" for the parts of its path and query that are numbers or tokens.
func shapeOfURL(url string) (shape string, parts []string) {
	var b strings.Builder
	from := 0
	if at := strings.Index(url, "://"); at > 0 { // the host is no part
		from = at + 3
		if at := strings.IndexByte(url[from:], '/'); at >= 0 {
			from += at
		} else {
			from = len(url)
		}
	}
	b.WriteString(url[:from])
	for from < len(url) {
		end := from
		for end < len(url) && !strings.ContainsRune("/?&=.,;:_-", rune(url[end])) {
			end++
		}
		if part := url[from:end]; isFigure(part) || isOpaque(part) {
			b.WriteString(blank)
			parts = append(parts, part)
		} else {
			b.WriteString(part)
		}
		if end < len(url) {
			b.WriteByte(url[end])
			end++
		}
		from = end
	}
	return b.String(), parts
}

// stable is a URL without the values of its query that are tokens.
func stable(url string) string {
	path, query, found := strings.Cut(url, "?")
	if !found {
		return url
	}
	changed := false
	all := strings.Split(query, "&")
	for i, one := range all {
		if name, value, _ := strings.Cut(one, "="); isOpaque(value) {
			all[i] = name + "=…"
			changed = true
		}
	}
	if !changed {
		return url
	}
	return path + "?" + strings.Join(all, "&")
}
