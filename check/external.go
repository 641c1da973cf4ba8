package check

import (
	"context"

	"github.com/weftcrawl/weft/record"
)

// ExternalBody is the most bytes that are read of an external page for its fragments.
const ExternalBody = 4 << 20

// unread returns the external pages of a job, by their URL, that links name a place on and whose
// bodies the job does not have, or only the beginning. They are there, so that one request for each
// is all that [Options].ExternalFragments takes.
func unread(ctx context.Context, dir string, o Options) (map[string]bool, error) {
	o.Rules, o.ExternalFragments = named(MissingFragment), false
	s, err := newSite(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer s.targets.close()
	defer s.bodies.Close()
	defer s.report.Close()
	defer s.joins.close()
	s.named = func(end key) {
		if n := s.targets.find(end); n != nil && n.flags&isExternal != 0 {
			n.flags |= isNamed
		}
	}
	if s.ended(s.targets.last(s.record)); s.err != nil {
		return nil, s.err
	}
	all := make(map[string]bool)
	err = s.targets.last(func(n *target, r *record.Record) error {
		if n.flags&isNamed == 0 || !r.IsPage() {
			return nil
		}
		body, whole, err := s.bodies.Received(r)
		if err != nil || !whole && len(body) < ExternalBody {
			all[r.URL] = true
		}
		return nil
	})
	return all, err
}
