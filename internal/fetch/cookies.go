package fetch

import (
	"hash/fnv"
	"io"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// Cookies are the facts about the cookies of an exchange that the coordinator needs: see
// docs/adr/0038-a-redirect-back.md.
type Cookies struct {
	Hash uint64 // of those of the request; 0: none
	New  bool   // the response has set one whose name was not among them
}

// cookiesOf returns the cookies of an exchange. Without a jar none change.
func (c *Config) cookiesOf(req *httpclient.Request, res *httpclient.Response) (all Cookies) {
	if c.HTTP.Cookies == nil {
		return all
	}
	field := req.Header.Get("Cookie")
	all.Hash = hashOf(field)
	for _, line := range res.Header.Values("Set-Cookie") {
		name, _, _ := strings.Cut(line, "=")
		all.New = all.New || !strings.Contains("; "+field, "; "+strings.TrimSpace(name)+"=")
	}
	return all
}

// CookiesFor returns the hash of the cookies that a request for u would have now.
func (c *Config) CookiesFor(u weburl.URL) uint64 {
	req := httpclient.Request{Scheme: u.Scheme(), Host: u.Host(), Target: u.RequestTarget()}
	return hashOf(httpclient.CookieField(c.HTTP.Cookies, &req))
}

func hashOf(field string) uint64 {
	if field == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, field)
	return h.Sum64()
}

// Responses counts the tries that ended with a response to which there was no retry: after each but
// the last, the URL was asked again.
func Responses(past []frontier.Try) (n int) {
	for i := range past {
		if s := past[i].Status; s != 0 && !mayPass(s) {
			n++
		}
	}
	return n
}
