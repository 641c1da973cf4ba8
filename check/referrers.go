package check

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/weftcrawl/weft/archive"

	"github.com/weftcrawl/weft/refs"
)

// referrers reports the targets that are not ok with the pages that a job without bodies knows to
// lead there: where on them, it does not know.
func (s *site) referrers(dir string) error {
	f, err := archive.OpenRegular(filepath.Join(dir, refs.File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var keys []refs.Key
	var at []int
	for i := range s.targets.all {
		if n := &s.targets.all[i]; n.flags&hasIssue != 0 {
			keys, at = append(keys, refs.Key(short(n.key))), append(at, i)
		}
	}
	_, err = refs.Each(f, keys, func(i int, p refs.Page) {
		if p.By == refs.Redirect { // its own referrers lead here, too
			return
		}
		n := &s.targets.all[at[i]]
		o, err := s.targets.look(n.key, s.Accept)
		if err != nil {
			s.fail(err)
			return
		}
		s.report.Totals.Links++
		n.in++
		if !s.ignores(o.url) {
			s.verdict(&o, Finding{Page: p.URL, URL: o.url, Status: o.status, ErrorKind: o.kind, Error: o.err, Redirects: o.chain})
		}
	})
	return err
}
