package links

import "iter"

// Span is a part of a text.
type Span struct{ From, To int }

// StyleURLs yields the URLs of CSS with their escapes decoded, and where they stand, without
// quotes. A URL is valid until the next one.
func StyleURLs(css []byte) iter.Seq2[Span, []byte] {
	return func(yield func(Span, []byte) bool) {
		s := cssScanner{text: css}
		for {
			url, _, ok := s.next()
			if !ok || !yield(Span{s.from, s.to}, url) {
				return
			}
		}
	}
}

// SrcsetURLs yields the URLs of a srcset attribute, as parts of it.
func SrcsetURLs(srcset []byte) iter.Seq[[]byte] { return candidates(srcset) }

// RefreshURL returns the URL in the content of a <meta http-equiv=refresh>, as a part of it; nil if
// there is none.
func RefreshURL(content []byte) []byte {
	target, _ := refresh(content)
	return target
}
