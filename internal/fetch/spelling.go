package fetch

import (
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// targetOf returns what to ask for at u, which a lease or its redirects led to.
func targetOf(lease frontier.URL, u weburl.URL) string {
	if lease.Written != "" && u == lease.URL {
		return lease.Written
	}
	return u.RequestTarget()
}

// written returns how a reference spells the URL that it leads to, if the crawl's rules have not
// made another of it; "": as that does.
func written(ref, to weburl.URL) string {
	if ref.RequestTarget() == to.RequestTarget() || ref.Canonical() != to {
		return ""
	}
	return ref.Written()
}
