package sitemap

import (
	"bytes"
	"fmt"
)

// readText reads one URL per line. Lines that begin with # are comments: the protocol has none,
// but people write them.
func (r *reader) readText() {
	rest := r.xml.Body
	for len(rest) > 0 && !r.out.stopped {
		end := bytes.IndexAny(rest, "\r\n")
		line := rest
		if end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		} else if rest = nil; r.cut {
			break // half a URL is a different one
		}
		r.xml.Pos = len(r.xml.Body) - len(rest)
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		if !isAbsolute(line) {
			r.out.Skipped++
			continue
		}
		r.out.Type = Text
		r.out.emit(Entry{Priority: DefaultPriority}, line, nil)
	}
	if r.out.Type == Unknown {
		r.out.Err = fmt.Errorf("%w, expected XML, or a URL a line", ErrFormat)
	}
}

func isAbsolute(line []byte) bool {
	for _, scheme := range [...]string{"http://", "https://"} {
		if len(line) > len(scheme) && bytes.EqualFold(line[:len(scheme)], []byte(scheme)) {
			return true
		}
	}
	return false
}
