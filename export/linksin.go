package export

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// linksIn is the column of the number of pages that link to one.
const linksIn = "links_in"

// mostCounted is the number of records of a job up to which links are counted that nobody has asked
// for: they take some 50 bytes of memory each.
const mostCounted = 1 << 20

// countsLinksIn makes a job count the links to its pages, if the rows of pages need it.
func (s *source) countsLinksIn(r *rows) error {
	has := func(all []column) bool {
		return slices.ContainsFunc(all, func(c column) bool { return c.name == linksIn })
	}
	if s.in != nil || r.table.name != "pages" || s.o.State == weft.URLPending || s.o.State == weft.URLLeased || !has(r.columns) && !strings.Contains(r.where, linksIn) {
		return nil
	}
	asked := slices.Contains(s.o.Fields, linksIn) || strings.Contains(r.where, linksIn)
	if err := s.mark(); err != nil {
		return err
	}
	var keys []refs.Key
	for l, err := range results.Lines(s.ctx, s.dir, results.Pages, s.old) {
		if err != nil {
			return err
		}
		if len(keys) == mostCounted && !asked {
			return nil
		}
		url, _, err := l.URL()
		if err != nil {
			return err
		}
		keys = append(keys, keyOfPage(string(url)))
	}
	f, err := regular.Open(filepath.Join(s.dir, refs.File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	s.in = make([]uint32, len(keys))
	var page string
	var own refs.Key
	_, err = refs.Each(f, keys, func(target int, p refs.Page) {
		if p.URL != page {
			page, own = p.URL, keyOfPage(p.URL)
		}
		if p.By == refs.Links && own != keys[target] {
			s.in[target]++
		}
	})
	return err
}

// keyOfPage returns the key of the URL of a record.
func keyOfPage(url string) refs.Key {
	u, err := weburl.Parse(url)
	if err != nil {
		return 0
	}
	return refs.KeyOf(u)
}

// linksInOf returns how many pages link to that of the nth record; 0: unknown, or none.
func (s *source) linksInOf(n int) int {
	if n < len(s.in) {
		return int(s.in[n])
	}
	return 0
}
