package blocklist

import (
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// maxURL bounds the bytes of a URL that are compared: pages make URLs as long as they like.
const maxURL = 4096

// query is a request, taken apart for the rules.
type query struct {
	text    string // the URL without credentials and fragment, which no server is sent
	lower   string
	hostAt  int // the host is text[hostAt:hostEnd], empty if there is none
	hostEnd int
	typ     typeSet
	url     weburl.URL
	page    weburl.URL

	// Once a rule has asked.
	known struct {
		party party
		keys  []key
	}
}

func newQuery(u, page weburl.URL, typ typeSet) query {
	text, _, _ := strings.Cut(u.String(), "#")
	host := u.Hostname()
	at := len(text)
	if host != "" {
		at = len(u.Scheme()) + len("://")
		if u.Username() != "" || u.Password() != "" {
			text = text[:at] + text[at+strings.IndexByte(text[at:], '@')+1:]
		}
	}
	text = text[:min(len(text), maxURL)]
	return query{
		text: text, lower: lower(text), typ: typ, url: u, page: page,
		hostAt: min(at, len(text)), hostEnd: min(at+len(host), len(text)),
	}
}

func (q *query) party() party {
	if q.known.party == anyParty {
		q.known.party = oneOf(site(q.url) == site(q.page), firstParty, thirdParty)
	}
	return q.known.party
}

// site returns the registrable domain of a URL, or else its host: an address, or a single label.
func site(u weburl.URL) string {
	if domain := weburl.RegistrableDomain(u.Hostname()); domain != "" {
		return domain
	}
	return u.Hostname()
}
