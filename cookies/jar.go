package cookies

import (
	"container/list"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Limits: see the package documentation.
const (
	maxCookie  = 4096
	maxPath    = 1024
	maxDomain  = 255
	maxPerSite = 180
	maxBytes   = 16 << 20
	maxAge     = 400 * 24 * 60 * 60 // seconds: the longest life of a cookie
	// Approximate cost in bytes of a cookie, or a site, in addition to its text.
	overhead = 512
)

// Jar is a bounded http.CookieJar.
type Jar struct {
	mu struct {
		sync.Mutex
		sites map[string]*site // by registrable domain
		// List of *site without given cookies; the one that has set none for longest is first.
		order list.List
		bytes int // of the sites in order
		most  int // bytes
	}
}

var _ http.CookieJar = (*Jar)(nil)

// site holds the cookies of a registrable domain.
type site struct {
	domain  string
	jar     *cookiejar.Jar
	kept    []kept // set longest ago first, including expired ones
	bytes   int
	element *list.Element // in order; nil: it has given cookies
}

// kept identifies a cookie as the library does.
type kept struct {
	host, domain, path, name string // domain is the attribute without its dot
	value                    string
	bytes                    int
	given                    bool      // by a file
	secure, hidden           bool      // hidden: from scripts
	expires                  time.Time // zero: with the crawl
}

// shadows reports whether k keeps a response over http from setting o: a secure cookie of the same
// name, for hosts and paths that o would reach. See section 5.7, step 17, of
// https://www.ietf.org/archive/id/draft-ietf-httpbis-rfc6265bis-20.html
func (k kept) shadows(o kept, now time.Time) bool {
	return k.secure && k.name == o.name && (k.expires.IsZero() || k.expires.After(now)) &&
		(within(k.scope(), o.scope()) || within(o.scope(), k.scope())) && below(o.path, k.path)
}

// within reports whether a host is a domain, or below it.
func within(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// below reports whether one path matches another, of a cookie (RFC 6265, section 5.1.4).
func below(path, of string) bool {
	return path == of || strings.HasPrefix(path, of) && (strings.HasSuffix(of, "/") || path[len(of)] == '/')
}

// same reports whether one cookie replaces the other.
func (k kept) same(o kept) bool {
	return k.name == o.name && k.path == o.path && k.scope() == o.scope()
}

func (k kept) scope() string {
	if k.domain != "" {
		return k.domain
	}
	return k.host
}

// New returns a jar without cookies.
func New() *Jar {
	j := new(Jar)
	j.mu.sites = make(map[string]*site)
	j.mu.most = maxBytes
	return j
}

// Limit has the cookies of responses take at most so many bytes in memory; 16 MiB at most.
func (j *Jar) Limit(bytes int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.most = min(bytes, maxBytes)
	j.shrink()
}

// Cookies returns the names and values of the cookies for a request to u, in the order in which to
// send them.
func (j *Jar) Cookies(u *url.URL) []*http.Cookie {
	host := hostOf(u)
	j.mu.Lock()
	s := j.mu.sites[siteOf(host)]
	j.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.jar.Cookies(&url.URL{Scheme: u.Scheme, Host: host, Path: u.Path})
}

// Site returns the cookies of the site of a host, for a browser that is to send them itself: as
// they are sent, and with Domain, which begins with a dot if it includes subdomains, Path, Secure
// and HttpOnly.
func (j *Jar) Site(host string) (all []*http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.mu.sites[siteOf(hostOf(&url.URL{Host: host}))]
	if s == nil {
		return nil
	}
	now := time.Now()
	for _, k := range s.kept {
		c := &http.Cookie{Name: k.name, Value: k.value, Domain: k.scope(), Path: k.path, Secure: k.secure, HttpOnly: k.hidden}
		if k.domain != "" {
			c.Domain = "." + k.domain
		}
		if (k.expires.IsZero() || k.expires.After(now)) && s.has(k) {
			all = append(all, c)
		}
	}
	return all
}

// has reports whether the library has a cookie, which it refuses for a public suffix.
func (s *site) has(k kept) bool {
	return slices.ContainsFunc(s.jar.Cookies(&url.URL{Scheme: "https", Host: k.scope(), Path: k.path}), func(c *http.Cookie) bool {
		return c.Name == k.name && strings.Trim(c.Value, `"`) == strings.Trim(k.value, `"`)
	})
}

// SetCookies stores the cookies that a response from u has set: of thousands, the last ones, as
// they would replace the others.
func (j *Jar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	cookies = cookies[max(0, len(cookies)-maxPerSite):]
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range cookies {
		j.set(u, c, false)
	}
}

// set stores one cookie and reports whether there was room for it. (A cookie that may not be set
// needs none.) The caller holds mu.
func (j *Jar) set(u *url.URL, c *http.Cookie, given bool) bool {
	k := kept{host: hostOf(u), domain: strings.ToLower(strings.TrimPrefix(c.Domain, ".")), path: c.Path, name: c.Name, value: c.Value, given: given, hidden: c.HttpOnly}
	if c.Quoted {
		k.value = `"` + c.Value + `"`
	}
	if !strings.HasPrefix(k.path, "/") {
		k.path = folder(u.Path)
	}
	k.secure, k.expires = c.Secure, expiry(c)
	if !k.may(u.Scheme == "https", c) {
		return true
	}
	k.bytes = overhead + len(k.host) + len(k.domain) + len(k.path) + len(k.name) + len(c.Value)
	name := siteOf(k.host)
	s := j.mu.sites[name]
	now := time.Now()
	gone := !k.expires.IsZero() && !k.expires.After(now)
	shadowed := func(o kept) bool { return u.Scheme != "https" && o.shadows(k, now) }
	switch {
	case s == nil && gone, s != nil && slices.ContainsFunc(s.kept, shadowed):
		return true
	case s == nil:
		s = newSite(name)
		j.mu.sites[name] = s
		s.element = j.mu.order.PushBack(s)
	case s.element != nil:
		j.mu.order.MoveToBack(s.element)
		j.mu.bytes -= s.bytes
	}
	if i := slices.IndexFunc(s.kept, k.same); i >= 0 {
		k.given = k.given || s.kept[i].given
		s.forget(i)
	}
	room := gone || s.makeRoom()
	if room {
		copied := *c
		copied.Domain, copied.Path, copied.MaxAge = k.domain, k.path, min(c.MaxAge, maxAge)
		s.jar.SetCookies(&url.URL{Scheme: u.Scheme, Host: k.host, Path: u.Path}, []*http.Cookie{&copied})
		if !gone {
			s.kept = append(s.kept, k)
			s.bytes += k.bytes
		}
	}
	if k.given && s.element != nil {
		j.mu.order.Remove(s.element)
		s.element = nil
	}
	if s.element != nil {
		j.mu.bytes += s.bytes
		j.shrink()
	}
	return room
}

// expiry returns when a cookie expires; zero: it does not.
func expiry(c *http.Cookie) time.Time {
	switch {
	case c.MaxAge < 0:
		return time.Unix(0, 0)
	case c.MaxAge > 0:
		return time.Now().Add(time.Duration(min(c.MaxAge, maxAge)) * time.Second)
	}
	return c.Expires
}

func newSite(domain string) *site {
	// It never fails: see its documentation.
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	return &site{domain: domain, jar: jar, bytes: overhead}
}

// may reports whether k.host may set c, by the rules that need no public suffixes of RFC 6265,
// section 5.3, and of its successor. See
// https://www.ietf.org/archive/id/draft-ietf-httpbis-rfc6265bis-20.html#section-5.7.
func (k *kept) may(secure bool, c *http.Cookie) bool {
	name := strings.ToLower(k.name)
	switch {
	case len(c.Name)+len(c.Value) > maxCookie, len(k.path) > maxPath, len(k.domain) > maxDomain, len(k.host) > maxDomain:
		return false
	case k.domain != "" && !within(k.host, k.domain):
		return false
	case c.Secure && !secure:
		return false
	case strings.HasPrefix(name, "__secure-"):
		return c.Secure
	case strings.HasPrefix(name, "__host-"):
		return c.Secure && k.domain == "" && c.Path == "/"
	}
	return true
}

// makeRoom makes room for one more cookie of s, which is impossible if all were given.
func (s *site) makeRoom() bool {
	if len(s.kept) < maxPerSite {
		return true
	}
	i := slices.IndexFunc(s.kept, func(k kept) bool { return !k.given })
	if i < 0 {
		return false
	}
	k := s.kept[i]
	s.jar.SetCookies(&url.URL{Scheme: "https", Host: k.host}, []*http.Cookie{{Name: k.name, Domain: k.domain, Path: k.path, MaxAge: -1}})
	s.forget(i)
	return true
}

// forget removes the i-th cookie from the count.
func (s *site) forget(i int) {
	s.bytes -= s.kept[i].bytes
	s.kept = slices.Delete(s.kept, i, i+1)
}

// shrink drops sites until all cookies are within the limit.
func (j *Jar) shrink() {
	for j.mu.bytes > j.mu.most {
		s := j.mu.order.Remove(j.mu.order.Front()).(*site)
		j.mu.bytes -= s.bytes
		delete(j.mu.sites, s.domain)
	}
}

// hostOf returns the host of u as cookies use it: no port, no final dot, no brackets, which the
// library would take for part of a name.
func hostOf(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }

// siteOf returns the registrable domain of a host, or the host itself.
func siteOf(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return domain
}

// folder returns the default path of a cookie (RFC 6265, section 5.1.4).
func folder(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 || path[0] != '/' {
		return "/"
	}
	return path[:i]
}
