package store

import "github.com/weftcrawl/weft/internal/frontier"

// Read reads the page for a request of the frontier. The caller must wait for a commit if the
// request needs one: see frontier.Request.AfterCommit.
func (s *Store) Read(r frontier.Request) (p frontier.Page, err error) {
	p.Request = r
	switch r.Kind {
	case frontier.Refill:
		p.URLs, p.More, err = s.Pending(r.Origin, r.After, r.N)
	case frontier.Revive:
		p.Origins, p.Last, err = s.Dormant(r)
	case frontier.Find:
		p.URLs, p.Origins, err = s.findPending(r.URLs)
	case frontier.Lookup:
		if len(r.Fingerprints) > 0 {
			p.Seen, err = s.Known(r.Fingerprints)
		}
		if err == nil && len(r.Names) > 0 {
			p.Origins, err = s.Named(r.Names)
		}
	}
	return p, err
}
