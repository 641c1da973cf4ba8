package idna

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// ErrDomain is returned for a domain that has no ASCII form.
var ErrDomain = errors.New("idna: no valid domain")

// acePrefix begins a label that is in Punycode.
const acePrefix = "xn--"

// ToASCII is the operation ToASCII of UTS #46, section 4.2, as the URL Standard calls it with
// beStrict false: CheckBidi and CheckJoiners are true, the other flags false. Time is quadratic in
// the length of a label, as that of Punycode is.
func ToASCII(domain string) (string, error) {
	if !utf8.ValidString(domain) {
		return "", ErrDomain
	}
	labels := strings.Split(norm.NFC.String(mapped(domain)), ".")
	for i, label := range labels {
		if encoded, ok := strings.CutPrefix(label, acePrefix); ok {
			decoded, err := idna.Punycode.ToUnicode(label)
			if err != nil || !isASCII(encoded) || isASCII(decoded) || !norm.NFC.IsNormalString(decoded) || strings.HasPrefix(decoded, acePrefix) {
				return "", ErrDomain
			}
			labels[i] = decoded
		}
	}
	rightToLeft := false
	for _, label := range labels {
		if !isValid(label) {
			return "", ErrDomain
		}
		rightToLeft = rightToLeft || isRightToLeft(label)
	}
	for i, label := range labels {
		if rightToLeft && !obeysBidiRule(label) {
			return "", ErrDomain
		}
		ascii, err := idna.Punycode.ToASCII(label)
		if err != nil {
			return "", ErrDomain
		}
		labels[i] = ascii
	}
	return strings.Join(labels, "."), nil
}

// mapped replaces each character by what it is mapped to. Those that are disallowed stay, and make
// their label invalid.
func mapped(domain string) string {
	var b strings.Builder
	for _, r := range domain {
		v := lookup(r)
		switch payload := v & Payload; v & kinds {
		case Ignored:
		case Moved:
			b.WriteRune((r + rune(payload)) & Payload)
		case Mapped:
			from := mappings() + int(payload>>LengthBits)
			b.WriteString(table[from : from+int(payload&(1<<LengthBits-1))])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isValid checks the validity criteria of a label (UTS #46, section 4.1), but for its normal form
// and the Bidi Rule.
func isValid(label string) bool {
	for i, r := range label {
		v := lookup(r)
		if v&kinds != Valid || i == 0 && v&Mark != 0 || r == '.' {
			return false
		}
		if (r == '\u200c' || r == '\u200d') && !mayJoin(label[:i], r, label[i+len("\u200c"):]) {
			return false
		}
	}
	return true
}

// mayJoin checks a zero-width joiner or non-joiner between two parts of a label: the rules ContextJ
// of RFC 5892, appendices A.1 and A.2.
func mayJoin(before string, r rune, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	if before != "" && lookup(last)&Virama != 0 {
		return true
	}
	if r == '\u200d' {
		return false
	}
	joins := false
	for before != "" && !joins {
		c, size := utf8.DecodeLastRuneInString(before)
		before = before[:len(before)-size]
		if joins = lookup(c)&JoinsNext != 0; !joins && lookup(c)&Transparent == 0 {
			return false
		}
	}
	if !joins {
		return false
	}
	for _, c := range after {
		switch v := lookup(c); {
		case v&JoinsLast != 0:
			return true
		case v&Transparent == 0:
			return false
		}
	}
	return false
}

// isRightToLeft reports whether a label makes its domain a Bidi domain name (RFC 5893, section
// 1.4).
func isRightToLeft(label string) bool {
	for _, r := range label {
		if class := lookup(r) & classes; class == ClassR || class == ClassAN {
			return true
		}
	}
	return false
}

// obeysBidiRule checks the six conditions of the Bidi Rule (RFC 5893, section 2).
func obeysBidiRule(label string) bool {
	if label == "" {
		return true
	}
	var has [classes + 1]bool
	first, last := uint32(ClassNSM), uint32(ClassNSM) // last: but for nonspacing marks
	for i, r := range label {
		class := lookup(r) & classes
		if has[class] = true; i == 0 {
			first = class
		}
		if class != ClassNSM {
			last = class
		}
	}
	switch {
	case first == ClassL:
		return !has[ClassR] && !has[ClassAN] && !has[ClassOther] && (last == ClassL || last == ClassEN)
	case first == ClassR:
		return !has[ClassL] && !has[ClassOther] && !(has[ClassAN] && has[ClassEN]) && last != ClassNeutral
	}
	return false
}
