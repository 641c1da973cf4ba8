package read

import "strings"

// line returns text from the Web as one line of at most so many bytes, without characters that
// steer a terminal.
func line(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7F || r >= 0x80 && r <= 0xA0 || r == '\u2028' || r == '\u2029'
	}), " ")
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
