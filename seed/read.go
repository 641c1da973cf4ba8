package seed

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/weburl"
)

// Seed is a URL that a crawl starts from.
type Seed struct {
	URL        weburl.URL             // canonical
	Written    string                 // its path and query as they were typed: see weburl.URL.Written
	Credential *httpclient.Credential // for its origin; nil: none
	Guessed    bool                   // given without a scheme: http is next if https does not answer
}

// Read is ParseCredential for a URL that may lack its scheme, as people type them: example.org,
// example.org/docs or example.org:8080. Its scheme is https then, and a guess. An address, a name
// of this machine and port 80 are by http.
func Read(s string) (Seed, error) {
	if bare, ok := complete(strings.TrimSpace(s)); ok {
		return bare, nil
	}
	u, credential, err := ParseCredential(s)
	typed, _ := weburl.Parse(strings.TrimSpace(s))
	return Seed{URL: u, Written: typed.Written(), Credential: credential}, err
}

// Patience is the time that a host has to accept a connection by a guessed scheme, once its
// name is looked up. A handshake takes less, with a lost packet sent again after one second.
const Patience = 3 * time.Second

// Instead returns the URL to try in place of one whose scheme is a guess, after an error of a kind:
// the same by http, if its host did not answer.
func (s Seed) Instead(kind httpclient.Kind) (weburl.URL, bool) {
	if !IsUnanswered(kind) {
		return weburl.URL{}, false
	}
	return s.ByHTTP()
}

// ByHTTP returns the URL by http, if its scheme is a guess.
func (s Seed) ByHTTP() (weburl.URL, bool) {
	if !s.Guessed {
		return weburl.URL{}, false
	}
	plain, err := weburl.Parse("http" + strings.TrimPrefix(s.URL.String(), "https"))
	if err != nil {
		panic(fmt.Sprintf("seed: %s: %v", s.URL, err)) // it is a URL with either scheme
	}
	return plain.Identity(), true
}

// IsUnanswered reports whether an error of a kind came before a host could answer at all, so that
// it may by another scheme.
func IsUnanswered(kind httpclient.Kind) bool {
	switch kind {
	case httpclient.KindConnect, httpclient.KindDialTimeout, httpclient.KindTLS, httpclient.KindTLSTimeout, httpclient.KindProxy:
		return true
	}
	return false
}

// ReadListed is Read for a line of a list, which has no credentials.
func ReadListed(s string) (Seed, error) {
	bare, err := Read(s)
	if err == nil && bare.Credential != nil {
		_, err = Parse(s)
	}
	return bare, err
}

// complete adds the scheme to a URL that lacks it. It returns false if s has one, or looks like
// something else, such as the name of a file or a word.
func complete(s string) (Seed, bool) {
	authority := s
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		authority = s[:i]
	}
	name, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		name, port = authority[:i], authority[i+1:]
		if port == "" || strings.Trim(port, "0123456789") != "" {
			return Seed{}, false // a scheme
		}
	}
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(authority, "@\\") {
		return Seed{}, false
	}
	u, err := weburl.Parse("https://" + s)
	host := u.Hostname()
	_, noAddress := netip.ParseAddr(strings.Trim(host, "[]"))
	here := host == "localhost" || strings.HasSuffix(host, ".localhost")
	switch {
	case err != nil:
		return Seed{}, false
	case noAddress != nil && !here && !isName(host, port != ""):
		return Seed{}, false
	case noAddress == nil, here, port == "80":
		u, err = weburl.Parse("http://" + s)
		return Seed{URL: u.Canonical(), Written: u.Written()}, err == nil
	}
	return Seed{URL: u.Canonical(), Written: u.Written(), Guessed: true}, true
}
