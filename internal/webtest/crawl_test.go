package webtest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/webtest"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// naive is a crawler that shares no code with Weft or with the truth: it uses net/http, net/url and
// the parser of golang.org/x/net/html.
type naive struct {
	client *http.Client
	policy webtest.Policy
	inside func(host string) bool
	robots map[string]*robotsRules // by URL host
	found  map[string]*visit
}

// visit is the state of a URL.
type visit struct {
	fate  webtest.Fate
	hops  int // fewest redirects that led here
	next  string
	links []string
}

// newNaive returns a crawler for a running web.
func newNaive(r *webtest.Running, p webtest.Policy, inside func(host string) bool) *naive {
	dialer := &net.Dialer{Resolver: resolver(r)}
	return &naive{
		client: &http.Client{
			// One connection per request: net/http may send the next request before it sees bytes
			// beyond Content-Length, and takes them for the next response.
			Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
			Timeout:       time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		policy: p, inside: inside,
		robots: make(map[string]*robotsRules), found: make(map[string]*visit),
	}
}

// resolver asks the name server of a web.
func resolver(r *webtest.Running) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, r.DNS.Addr())
	}}
}

// crawl returns the fate of every reachable URL.
func (n *naive) crawl(seeds ...string) map[string]webtest.Fate {
	defer n.client.CloseIdleConnections()
	type job struct {
		url  string
		hops int
	}
	var queue []job
	for _, s := range seeds {
		queue = append(queue, job{s, 0})
	}
	for len(queue) > 0 {
		j := queue[0]
		queue = queue[1:]
		if u, err := url.Parse(j.url); err != nil || u.Scheme != "http" || !n.inside(u.Hostname()) {
			continue
		}
		v, seen := n.found[j.url]
		switch {
		case !seen:
			v = n.visit(j.url)
			n.found[j.url] = v
			for _, l := range v.links {
				queue = append(queue, job{l, 0})
			}
		case v.hops <= j.hops:
			continue
		}
		v.hops = j.hops
		if v.next != "" && v.hops < n.policy.MaxRedirects {
			queue = append(queue, job{v.next, v.hops + 1})
		}
	}
	fates := make(map[string]webtest.Fate)
	for u, v := range n.found {
		fates[u] = v.fate
	}
	return fates
}

func (n *naive) visit(at string) *visit {
	u, err := url.Parse(at)
	if err != nil {
		return &visit{fate: webtest.Fate{Error: err.Error()}}
	}
	if n.policy.Robots {
		if err := n.allowed(u); err != "" {
			return &visit{fate: webtest.Fate{Error: err}}
		}
	}
	res, body, err := n.get(at)
	if err != nil {
		return &visit{fate: webtest.Fate{Error: classify(err)}}
	}
	v := &visit{fate: webtest.Fate{Status: res.StatusCode}}
	if res.StatusCode/100 == 3 {
		v.next = resolve(u, res.Header.Get("Location"))
	}
	if res.StatusCode != 200 {
		return v
	}
	if slices.Contains(n.policy.Elements, "header") {
		for _, l := range res.Header.Values("Link") {
			v.links = append(v.links, resolve(u, l[1:strings.Index(l, ">")]))
		}
	}
	if contentType := res.Header.Get("Content-Type"); strings.HasPrefix(contentType, "text/html") {
		v.links = append(v.links, n.read(u, contentType, body)...)
	}
	return v
}

// get fetches a URL, and retries transient statuses.
func (n *naive) get(at string) (res *http.Response, body []byte, err error) {
	for try := 0; ; try++ {
		res, err = n.client.Get(at)
		if err != nil {
			return nil, nil, err
		}
		body, err = io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			return nil, nil, err
		}
		if try >= n.policy.Retries || !slices.Contains([]int{429, 502, 503, 504}, res.StatusCode) {
			return res, body, nil
		}
	}
}

// classify returns an error of Fate.
func classify(err error) string {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return webtest.ErrorDNS
	case errors.Is(err, gzip.ErrHeader):
		return webtest.ErrorEncoding
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return webtest.ErrorEarlyEnd
	case strings.Contains(err.Error(), "malformed HTTP"):
		return webtest.ErrorProtocol
	case errors.As(err, &timeout) && timeout.Timeout():
		return webtest.ErrorStall
	}
	return err.Error()
}

// attributes are the link attributes by element.
var attributes = map[string]string{"a": "href", "area": "href", "link": "href", "frame": "src", "iframe": "src", "img": "src", "script": "src"}

// read returns the links of a page.
func (n *naive) read(base *url.URL, contentType string, body []byte) (links []string) {
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return []string{err.Error()}
	}
	doc, err := html.Parse(r)
	if err != nil {
		return []string{err.Error()}
	}
	for e := range doc.Descendants() {
		if e.Type != html.ElementNode {
			continue
		}
		attr := make(map[string]string)
		for _, a := range e.Attr {
			attr[a.Key] = a.Val
		}
		if e.Data == "base" {
			base = base.ResolveReference(&url.URL{Path: attr["href"]})
		}
		if !slices.Contains(n.policy.Elements, e.Data) {
			continue
		}
		if href, ok := attr[attributes[e.Data]]; ok && attributes[e.Data] != "" {
			links = append(links, resolve(base, href))
		}
		if set := strings.Fields(attr["srcset"]); len(set) > 0 {
			links = append(links, resolve(base, set[0]))
		}
		if _, to, ok := strings.Cut(attr["content"], "URL='"); ok && e.Data == "meta" {
			links = append(links, resolve(base, strings.TrimSuffix(to, "'")))
		}
	}
	return links
}

// resolve returns the URL without its fragment.
func resolve(base *url.URL, ref string) string {
	u, err := base.Parse(strings.NewReplacer("\n", "", "\t", "").Replace(strings.TrimSpace(ref)))
	if err != nil {
		return err.Error()
	}
	u.Fragment = ""
	u.Host = strings.TrimSuffix(strings.ToLower(u.Host), ":80")
	return u.String()
}

// robotsRules is the part of a robots.txt that this web uses.
type robotsRules struct {
	err   string // for all URLs
	allow map[string]bool
}

// allowed returns the error of a URL that robots.txt closes, or an empty string.
func (n *naive) allowed(u *url.URL) string {
	r := n.robots[u.Host]
	if r == nil {
		r = n.readRobots("http://" + u.Host + "/robots.txt")
		n.robots[u.Host] = r
	}
	if r.err != "" {
		return r.err
	}
	longest, allow := -1, true
	for rule, a := range r.allow {
		suffix, isSuffix := strings.CutPrefix(rule, "/*")
		matches := strings.HasPrefix(u.Path, rule)
		if isSuffix {
			matches = strings.HasSuffix(u.Path, strings.TrimSuffix(suffix, "$"))
		}
		if matches && len(rule) > longest {
			longest, allow = len(rule), a
		}
	}
	if !allow {
		return webtest.ErrorRobots
	}
	return ""
}

func (n *naive) readRobots(at string) *robotsRules {
	res, body, err := n.get(at)
	for err == nil && res.StatusCode/100 == 3 {
		u, _ := url.Parse(at)
		at = resolve(u, res.Header.Get("Location"))
		res, body, err = n.get(at)
	}
	switch {
	case err != nil:
		return &robotsRules{err: classify(err)}
	case res.StatusCode >= 500:
		return &robotsRules{err: webtest.ErrorRobots}
	case res.StatusCode >= 400:
		return &robotsRules{}
	}
	groups := make(map[string]map[string]bool)
	var rules map[string]bool
	for group := range strings.SplitSeq(string(body), "\n\n") {
		rules = make(map[string]bool)
		for line := range strings.SplitSeq(group, "\n") {
			line, _, _ = strings.Cut(line, "#")
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			switch strings.ToLower(name) {
			case "user-agent":
				groups[strings.ToLower(value)] = rules
			case "allow", "disallow":
				rules[value] = name == "Allow"
			}
		}
	}
	if own, ok := groups[n.policy.Agent]; ok {
		return &robotsRules{allow: own}
	}
	return &robotsRules{allow: groups["*"]}
}
