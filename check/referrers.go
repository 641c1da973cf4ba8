package check

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/weburl"
)

// referrers reports the targets that are not ok with the pages that a job without bodies knows to
// lead there: where on them, it does not know. Of a target that its file does not have, since that
// is bounded or damaged, it is the page that the target was found on.
func (s *site) referrers(dir string) error {
	var keys []refs.Key
	var at []int
	for i := range s.targets.all {
		if n := &s.targets.all[i]; n.flags&hasIssue != 0 {
			keys, at = append(keys, refs.Key(short(n.key))), append(at, i)
		}
	}
	known := make([]bool, len(at))
	damage := eachReferrer(dir, keys, func(i int, p refs.Page) {
		known[i] = true
		if p.By != refs.Redirect { // its own referrers lead here, too
			s.fail(s.referrer(&s.targets.all[at[i]], p.URL))
		}
	})
	if damage != nil {
		s.found(Finding{Rule: NotRead, Page: refs.File, Message: "not all pages that link to something are known: " + damage.Error()})
	}
	var err error
	for i := 0; i < len(at) && err == nil; i++ {
		if n := &s.targets.all[at[i]]; !known[i] && n.flags&(isSeed|isProbe) == 0 {
			err = s.finder(n)
		}
	}
	return err
}

// eachReferrer is refs.Each of a job, which may have no such file.
func eachReferrer(dir string, keys []refs.Key, found func(target int, p refs.Page)) error {
	f, err := archive.OpenRegular(filepath.Join(dir, refs.File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = refs.Each(f, keys, found)
	return err
}

// referrer reports a target on a page.
func (s *site) referrer(n *target, page string) error {
	o, err := s.targets.look(n.key, s.options.Accept)
	if err != nil {
		return err
	}
	s.report.Totals.Links++
	n.in++
	if !s.ignores(o.url) {
		s.verdict(&o, Finding{Page: page, URL: o.url, Status: o.status, ErrorKind: o.kind, Error: o.err, Redirects: o.chain})
	}
	return nil
}

// finder reports a target on the page that it was found on, unless that redirects here.
func (s *site) finder(n *target) error {
	r, err := s.targets.record(n)
	if err != nil {
		return err
	}
	if u, err := weburl.Parse(r.From); err == nil {
		if from := s.targets.find(s.targets.keyOf(u)); from != nil && from.redirect == n.key {
			return nil
		}
	}
	return s.referrer(n, r.From)
}
