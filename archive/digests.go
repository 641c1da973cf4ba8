package archive

import (
	"strings"
	"sync"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/warc"
)

// digested returns captures of any URL that have a digest.
func (a *Archive) digested(digest string) (same []Capture, err error) {
	for _, s := range a.sources {
		s.digests.made.Do(func() { s.digests.index, s.digests.err = s.byDigest() })
		if s.digests.err != nil {
			return nil, s.digests.err
		}
		for line, err := range s.digests.index.prefixed(digest + " ") {
			if err != nil {
				return nil, err
			}
			line.Key = warc.SURT(line.URL)
			if same = append(same, Capture{line, s}); len(same) == mostOriginals {
				return same, nil
			}
		}
	}
	return same, nil
}

// digests is another index of a source, made when it is asked for first: its keys are digests of
// payloads.
type digests struct {
	made  sync.Once
	index *index
	err   error
}

func (d *digests) close() {
	if d.index != nil {
		d.index.close()
	}
}

// byDigest makes the index by digest.
func (s *source) byDigest() (*index, error) {
	lines := extsort.New("")
	defer lines.Close()
	var line []byte
	for x, err := range s.index.prefixed("") {
		if err != nil {
			return nil, err
		}
		if x.Key = digestKey(x.Digest); x.Key == "" || !(Capture{Index: x}).original() {
			continue
		}
		line = x.Append(line[:0])
		if err := lines.Add(line[:len(line)-1]); err != nil {
			return nil, err
		}
	}
	return sorted(lines, s.path)
}

// digestOf returns the digest of a record's payload in one spelling, or "".
func digestOf(r *warc.Record) string { return digestKey(r.Header.Get("WARC-Payload-Digest")) }

// digestKey returns a digest in one spelling, or "". Some indexes leave out that it is by SHA-1.
func digestKey(s string) string {
	if !strings.Contains(s, ":") {
		s = "sha1:" + s
	}
	d, err := warc.ParseDigest(s)
	if err != nil {
		return ""
	}
	return d.String()
}

func algorithm(key string) string {
	name, _, _ := strings.Cut(key, ":")
	return name
}

// original reports whether a revisit may refer to a capture.
func (c Capture) original() bool { return c.MIME != "warc/revisit" && c.Status != 304 }
