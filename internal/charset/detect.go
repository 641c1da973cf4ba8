package charset

import "unicode/utf8"

func detect(body []byte) (*Encoding, Source) {
	n := asciiPrefix(body)
	switch {
	case n == len(body):
		return windows1252, Default
	case utf8.Valid(body[n:]):
		return utf8Encoding, Detected
	}
	return windows1252, Default
}
