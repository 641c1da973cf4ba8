package fingerprint

import (
	"bytes"
	"math/bits"

	"github.com/weftcrawl/weft/internal/markup"
)

// A kind is the set of meanings that a word may have in a stamp.
type kind uint16

const (
	number  kind = 1 << iota // at most four digits, or an ordinal such as "21st"
	amount                   // another number, such as "1,234" and "1.2k"
	date                     // 2026-11-21, 21.11.2026, 11/21/2026
	clock                    // 12:34, 12:34:56, 5pm
	half                     // am, pm
	zone                     // UTC
	month                    // in English
	weekday                  // in English
	unit                     // of time
	ago
	noun // of something counted
)

// stamps is the complete list of omitted words. It applies to a run of words that all have
// some kind, one of them a number or before one: if the run has all kinds that a rule needs, the
// words of the kinds that it drops go.
var stamps = []struct {
	name         string
	needs, drops kind
}{
	{"date", date, date | weekday},
	{"day", month | number, month | number | weekday}, // "Sat, 21 Nov 2026", "November 21st, 2026"
	{"time", clock, clock | half | zone},
	{"hour", number | half, number | half | zone},     // "5 pm"
	{"ago", number | unit | ago, number | unit | ago}, // "2 hours, 3 minutes ago"
	{"count", number | noun, number},                  // "12 views"
	{"large count", amount | noun, amount | number},   // "1,234 views, 5 replies"
}

// A run is a sequence of adjacent words in the buffer that may be a stamp.
type run struct {
	n       int
	has     kind
	entries [8]struct {
		from, to int // in the buffer, with its blank
		kind     kind
	}
}

func (r *run) add(from, to int, k kind) {
	e := &r.entries[r.n]
	e.from, e.to, e.kind = from, to, k
	r.n++
	r.has |= k
}

// sift removes the stamps from the words in the buffer, up to end, that it has not seen. A run
// may continue with later words.
func (r *Reader) sift(end int) {
	buf := r.buf[:r.n]
	kept, at := r.sifted, r.sifted // words before kept stay, those from at to end are unread
	for at < end {
		if r.run.n == 0 {
			figure := nextFigure(buf[:end], at)
			kept += move(buf, kept, at, figure)
			if at = figure; at == end {
				break
			}
		}
		next := at + bytes.IndexByte(buf[at:end], ' ') + 1
		word := buf[at : next-1]
		k := kindOf(word)
		if r.run.n > 0 {
			// Only a year may follow a time of day: "22:15 UTC" and "7. Input" are two things.
			numbered := k == number && len(word) < len("2026") && r.run.has&(clock|zone) != 0
			if k == 0 || numbered || r.run.n == len(r.run.entries) {
				kept = r.settle(kept)
				continue
			}
		} else if k != 0 {
			r.lookBack(kept)
		}
		n := move(buf, kept, at, next)
		if k != 0 {
			r.run.add(kept, kept+n, k)
		}
		kept += n
		at = next
	}
	r.sifted = kept
	r.n = kept + move(buf, kept, end, r.n)
}

// move moves buf[from:end] down to to, and returns its length.
func move(buf []byte, to, from, end int) int {
	if to == from {
		return end - from
	}
	return copy(buf[to:], buf[from:end])
}

// lookBack starts a run with the month and the weekday, in any order, that come before at.
func (r *Reader) lookBack(at int) {
	var words [2]struct {
		from int
		kind kind
	}
	n, end := 0, at
	for ; n < len(words); n++ {
		from := r.wordBefore(end)
		if from < 0 || !inStamp[r.buf[from]] {
			break
		}
		k := kindOf(r.buf[from : end-1])
		if k&(month|weekday) == 0 {
			break
		}
		words[n].from, words[n].kind = from, k
		end = from
	}
	for n--; n >= 0; n-- {
		to := at
		if n > 0 {
			to = words[n-1].from
		}
		r.run.add(words[n].from, to, words[n].kind)
	}
}

// settle ends the run, which ends at end, and removes its stamps. It returns the new end.
func (r *Reader) settle(end int) int {
	var dropped kind
	for _, s := range stamps {
		if r.run.has&s.needs == s.needs {
			dropped |= s.drops
		}
	}
	if dropped != 0 {
		end = r.run.entries[0].from
		for _, e := range r.run.entries[:r.run.n] {
			if e.kind&dropped == 0 {
				end += copy(r.buf[end:], r.buf[e.from:e.to])
			}
		}
	}
	r.run.n, r.run.has = 0, 0
	r.floor = end
	return end
}

// nextFigure returns the start of the first word at or after at that begins with a digit, also in
// brackets; the end if there is none. A word begins at at.
func nextFigure(buf []byte, at int) int {
	before := uint64(0x80) // the byte before may open a figure: a blank or a bracket
	for i := at; i < len(buf); i += 8 {
		x := load(buf[:cap(buf)], i)
		found := digits(x)
		opens := equals(x, ' ') | equals(x, '(') | equals(x, '[')
		for found &= opens<<8 | before; found != 0; found &= found - 1 {
			digit := i + bits.TrailingZeros64(found)/8
			switch {
			case digit >= len(buf):
				return len(buf)
			case digit == at || buf[digit-1] == ' ':
				return digit
			case digit == at+1 || buf[digit-2] == ' ':
				return digit - 1
			}
		}
		before = opens >> 56
	}
	return len(buf)
}

// inStamp holds the first bytes of months and weekdays, also in brackets.
var inStamp = func() (table [256]bool) {
	for _, c := range []byte("([JFMASONDTW") {
		table[c] = true
	}
	return table
}()

// longestStamp bounds the words of stamps, in bytes: "2026-11-21T12:34:56.123456+00:00".
const longestStamp = 32

// kindOf returns the kind of a word without the punctuation around it; 0 if it is no part of a
// stamp.
func kindOf(word []byte) kind {
	if isShortNumber(word) { // as most figures are
		return number
	}
	for len(word) > 0 && (word[0] == '(' || word[0] == '[') {
		word = word[1:]
	}
	for len(word) > 0 && closing[word[len(word)-1]] {
		word = word[:len(word)-1]
	}
	if len(word) == 0 || len(word) > longestStamp {
		return 0
	}
	if c := word[0]; !markup.IsDigit(c) && wordLengths[c&0x1f]>>len(word)&1 == 0 {
		return 0
	}
	// shape is the word in lower case, with 9 for every digit.
	var buf [longestStamp]byte
	shape := buf[:copy(buf[:], word)]
	for i, c := range shape {
		switch {
		case markup.IsDigit(c):
			shape[i] = '9'
		case 'A' <= c && c <= 'Z':
			shape[i] |= 0x20
		}
	}
	if shape[0] == '9' {
		return kindOfFigure(shape)
	}
	k := words[string(shape)]
	if k&(month|weekday) != 0 && 'a' <= word[0] { // "may", "march"
		return 0
	}
	return k
}

// closing has the punctuation at the end of words: bytes.TrimRight would make this table for each.
var closing = [256]bool{'.': true, ',': true, ';': true, ':': true, ')': true, ']': true}

// isShortNumber reports whether a word is one to four digits.
func isShortNumber(word []byte) bool {
	for _, c := range word {
		if !markup.IsDigit(c) {
			return false
		}
	}
	return 0 < len(word) && len(word) <= 4
}

// words are the words of stamps.
var words = func() map[string]kind {
	all := make(map[string]kind)
	for k, list := range map[kind]string{
		month:   "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec",
		weekday: "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun",
		unit:    "second seconds sec secs minute minutes min mins hour hours hr hrs day days week weeks month months year years",
		ago:     "ago",
		half:    "am pm a.m p.m",
		zone:    "utc gmt cet cest est edt cst cdt mst mdt pst pdt",
		noun:    "views likes shares comments replies followers visitors visits downloads",
	} {
		for word := range bytes.FieldsSeq([]byte(list)) {
			all[string(word)] = k
		}
	}
	return all
}()

// wordLengths holds the lengths of words by their first letter, as bits.
var wordLengths = func() (lengths [32]uint16) {
	for word := range words {
		lengths[word[0]&0x1f] |= 1 << len(word)
	}
	return lengths
}()

// kindOfFigure is kindOf for the shape of a word that begins with a digit.
func kindOfFigure(shape []byte) kind {
	digits := 0
	for digits < len(shape) && shape[digits] == '9' {
		digits++
	}
	switch rest := string(shape[digits:]); {
	case rest == "" && digits <= 4, digits <= 2 && (rest == "st" || rest == "nd" || rest == "rd" || rest == "th"):
		return number
	case digits <= 2 && (rest == "am" || rest == "pm"):
		return clock
	}
	switch string(shape) {
	case "9999-99-99", "9999/99/99", "99.99.9999", "9.99.9999", "99.9.9999", "9.9.9999",
		"99/99/9999", "9/99/9999", "99/9/9999", "9/9/9999", "99-99-9999":
		return date
	}
	if day, time, ok := bytes.Cut(shape, []byte("t")); ok && string(day) == "9999-99-99" && isClock(time) {
		return date
	}
	if isClock(shape) {
		return clock
	}
	if len(bytes.Trim(shape, "9,.")) == 0 {
		return amount
	}
	if last := shape[len(shape)-1]; (last == 'k' || last == 'm') && len(bytes.Trim(shape[:len(shape)-1], "9,.")) == 0 {
		return amount
	}
	return 0
}

// isClock reports whether a shape is a time of day: 9:99 or 99:99, also with seconds, a fraction,
// and am, pm or an offset from UTC.
func isClock(shape []byte) bool {
	hour, rest, ok := bytes.Cut(shape, []byte(":"))
	if !ok || string(hour) != "9" && string(hour) != "99" || len(rest) < 2 || string(rest[:2]) != "99" {
		return false
	}
	rest = rest[2:]
	if len(rest) >= 3 && string(rest[:3]) == ":99" {
		rest = rest[3:]
		if len(rest) > 1 && rest[0] == '.' && rest[1] == '9' {
			rest = bytes.TrimLeft(rest[1:], "9")
		}
	}
	switch string(rest) {
	case "", "z", "am", "pm", "+99:99", "-99:99", "+9999", "-9999":
		return true
	}
	return false
}

// wordBefore returns the start of the word that ends with the blank before at; -1 if it is too
// long for a stamp, there is none, or it was in a run.
func (r *Reader) wordBefore(at int) int {
	from := max(r.floor, at-1-longestStamp-1)
	if from >= at {
		return -1
	}
	if i := bytes.LastIndexByte(r.buf[from:at-1], ' '); i >= 0 {
		return from + i + 1
	}
	if from == r.floor {
		return from
	}
	return -1
}
