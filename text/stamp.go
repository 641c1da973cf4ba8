package text

import "bytes"

// An entry is a word that was read.
type entry struct {
	hash uint64
	text []byte // of the body; nil if it does not stand there as it is
}

// What a word may be in a stamp, as bits.
type kind uint16

const (
	number  kind = 1 << iota // of at most four digits, or the like of "21st"
	amount                   // another number, as "1,234" and "1.2k"
	date                     // 2026-11-21, 21.11.2026, 11/21/2026
	clock                    // 12:34, 12:34:56, 5pm
	half                     // am, pm
	zone                     // UTC
	month                    // of English
	weekday                  // the same
	unit                     // of time
	ago
	noun // what is counted
)

// stamps is the whole list of what is left out: of a run of words which all are of some
// kind, and of which one is or stands before a number, those of the kinds that a rule
// drops, if the run has all that the rule needs.
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

// held are the last words before a run, if by their first letters they may be a month or a
// weekday, which may turn out to begin it.
type held struct {
	n       int
	entries [2]entry
}

// take returns what is held, the oldest first, and holds nothing any more.
func (h *held) take() []entry {
	all := h.entries[:h.n]
	h.n = 0
	return all
}

// A run is words that may be a stamp.
type run struct {
	n       int
	has     kind
	entries [8]struct {
		hash uint64
		kind kind
	}
}

func (r *run) add(hash uint64, k kind) {
	r.entries[r.n].hash, r.entries[r.n].kind = hash, k
	r.n++
	r.has |= k
}

// add takes in a word.
func (r *Reader) add(e entry) {
	switch {
	case r.run.n > 0:
		k := kindOf(e.text)
		// Behind a time of day stands a year at most: "22:15 UTC" and "7. Input" are two things.
		numbered := k == number && len(e.text) < len("2026") && r.run.has&(clock|zone) != 0
		if k != 0 && !numbered && r.run.n < len(r.run.entries) {
			r.run.add(e.hash, k)
			return
		}
		r.settle()
		r.add(e)
		return
	case len(e.text) == 0 || !inStamp[e.text[0]]:
		for _, h := range r.held.take() {
			r.emit(h.hash)
		}
		r.emit(e.hash)
		return
	case isFigure(e.text):
		if k := kindOf(e.text); k != 0 {
			for _, h := range r.held.take() {
				if k := kindOf(h.text); k&(month|weekday) != 0 {
					r.run.add(h.hash, k)
					continue
				}
				r.settle()
				r.emit(h.hash)
			}
			r.run.add(e.hash, k)
			return
		}
	}
	h := &r.held
	if h.n == len(h.entries) {
		r.emit(h.entries[0].hash)
		h.entries[0] = h.entries[1]
		h.n--
	}
	h.entries[h.n] = e
	h.n++
}

// settle ends the run, and takes what is no stamp of it into the fingerprints.
func (r *Reader) settle() {
	var dropped kind
	for _, s := range stamps {
		if r.run.has&s.needs == s.needs {
			dropped |= s.drops
		}
	}
	for _, e := range r.run.entries[:r.run.n] {
		if e.kind&dropped == 0 {
			r.emit(e.hash)
		}
	}
	r.run.n, r.run.has = 0, 0
}

// inStamp is what a word begins with that begins a stamp: a figure, or the name of a month
// or a weekday. Other words end no run and begin none.
var inStamp = func() (table [256]bool) {
	for _, c := range []byte("([0123456789JFMASONDTW") {
		table[c] = true
	}
	return table
}()

// isFigure reports whether a word begins with a digit, be it in brackets.
func isFigure(word []byte) bool {
	return isDigit(word[0]) || (word[0] == '(' || word[0] == '[') && len(word) > 1 && isDigit(word[1])
}

// longestStamp bounds the words that are looked at: "2026-11-21T12:34:56.123456+00:00".
const longestStamp = 32

// kindOf returns what a word may be, without the punctuation around it; 0: no part of a
// stamp.
func kindOf(word []byte) kind {
	word = bytes.TrimRight(bytes.TrimLeft(word, "(["), ".,;:)]")
	if len(word) == 0 || len(word) > longestStamp {
		return 0
	}
	// shape is the word in lower case, with 9 for every digit.
	var buf [longestStamp]byte
	shape := buf[:copy(buf[:], word)]
	for i, c := range shape {
		switch {
		case isDigit(c):
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

// words are those of stamps.
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

// isClock reports whether a shape is that of a time of day: 9:99, 99:99 and these with
// seconds, a fraction, and am, pm or the offset from UTC.
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
