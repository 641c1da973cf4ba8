package httpclient_test

import (
	"crypto/tls"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
)

// field returns the line of a field in a request; "" for none.
func field(request, name string) string {
	for line := range strings.SplitSeq(request, "\r\n") {
		if strings.HasPrefix(line, name+": ") {
			return line
		}
	}
	return ""
}

// TestCookies checks that a request sends the cookies that earlier responses set, including a
// response without a body and one that could not be read to its end.
func TestCookies(t *testing.T) {
	for name, play := range overEach {
		t.Run(name, func(t *testing.T) { testCookies(t, play) })
	}
}

func testCookies(t *testing.T, play func(*testing.T, httpclient.Options, func(*site), func(*browser))) {
	play(t, httpclient.Options{Cookies: cookies.New()},
		func(s *site) {
			p := s.accept()
			expect := func(target, want, response string) {
				t.Helper()
				if got := field(p.request(target), "Cookie"); got != want {
					t.Errorf("%s brings %q, want %q", target, got, want)
				}
				p.send(response)
			}
			expect("/a?q", "", "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n"+
				"Set-Cookie: a=1\r\nset-cookie: b=\"2 3\"; Path=/b\r\nSet-Cookie: away=1; Domain=other.example\r\n\r\n")
			expect("/b", `Cookie: b="2 3"; a=1`, response("Set-Cookie: a=; Expires=Thu, 01-Jan-70 00:00:00 GMT\r\n", "x"))
			expect("/c", "", response("Set-Cookie: late={\"x\": 1}; Path=/\r\nContent-Encoding: gzip\r\n", "broken"))
			p = s.accept()
			expect("/d", `Cookie: late={"x": 1}`, ok("x"))
		},
		func(b *browser) {
			for _, target := range []string{"/a?q", "/b"} {
				res, err := b.get(target)
				if err != nil {
					t.Fatal(err)
				}
				res.Close()
			}
			b.fails("/c", httpclient.KindEncoding)
			b.reads("/d", "x")
		})
}

// TestOwnFields checks that the caller's cookies and credentials take precedence over the
// client's.
func TestOwnFields(t *testing.T) {
	jar := cookies.New()
	err := jar.Load(strings.NewReader("www.example\tFALSE\t/\tFALSE\t0\tn\tv\n"))
	if err != nil {
		t.Fatal(err)
	}
	known := httpclient.Options{Cookies: jar, Auth: []httpclient.Credential{{Scheme: "http", Host: "WWW.example", User: "me", Password: "pass:word"}}}
	own := known
	own.Header = httpclient.Header{{Name: "cookie", Value: "own=1"}, {Name: "authorization", Value: "Own"}}
	for _, c := range []struct {
		name   string
		opt    httpclient.Options
		header httpclient.Header // of the request
		more   string            // Request.Cookies; "-": none, not even of the jar
		want   string            // its lines with cookies or credentials
	}{
		{"known", known, nil, "", "Cookie: n=v|Authorization: Basic bWU6cGFzczp3b3Jk"},
		{"of all requests", own, nil, "", "cookie: own=1|authorization: Own"},
		{"of this one", own, httpclient.Header{{Name: "Cookie", Value: "this=1"}, {Name: "Authorization", Value: "This"}}, "", "Cookie: this=1|Authorization: This"},
		{"none of them", known, httpclient.Header{{Name: "Cookie"}, {Name: "Authorization"}}, "", ""},
		{"in place of the jar", known, nil, "page=1", "Cookie: page=1|Authorization: Basic bWU6cGFzczp3b3Jk"},
		{"in place of the jar, none", known, nil, "-", "Authorization: Basic bWU6cGFzczp3b3Jk"},
		{"beside those of all requests", own, nil, "page=1", "cookie: own=1; page=1|authorization: Own"},
		{"beside those of all requests, none", own, nil, "-", "cookie: own=1|authorization: Own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			playBoth(t, c.opt,
				func(s *site) {
					p := s.accept()
					var got []string
					for line := range strings.SplitSeq(p.request("/"), "\r\n") {
						if name, _, _ := strings.Cut(strings.ToLower(line), ":"); name == "cookie" || name == "authorization" {
							got = append(got, line)
						}
					}
					if strings.Join(got, "|") != s.fields(c.want) {
						t.Errorf("request with %q, want %q", got, c.want)
					}
					p.send(ok("x"))
				},
				func(b *browser) {
					res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: "www.example", Target: "/", Header: c.header, Cookies: cookiesOf(c.more)})
					if err != nil {
						t.Fatal(err)
					}
					res.Close()
				})
		})
	}
}

// cookiesOf returns cookies of a request: see TestOwnFields.
func cookiesOf(text string) *string {
	switch text {
	case "":
		return nil
	case "-":
		return new(string)
	}
	return &text
}

// TestSetCookieForms checks that cookies are parsed as browsers parse them.
func TestSetCookieForms(t *testing.T) {
	for line, want := range map[string]string{
		"n=v":                             "n=v",
		" n = v ; Path=/":                 "n=v",
		"n=a=b":                           "n=a=b",
		`n={"a": [1, "é"]}`:               `n={"a": [1, "é"]}`,
		`n="v"`:                           `n="v"`,
		"n=":                              "n=",
		"n@x=v":                           "n@x=v",
		"n":                               "",
		"=v":                              "",
		"":                                "",
		";":                               "",
		"n=v; Max-Age=0":                  "",
		"n=v; Max-Age=-99999999":          "",
		"n=v; Max-Age=rubbish":            "n=v",
		"n=v; Expires=rubbish":            "n=v",
		"n=v; Expires=" + http.TimeFormat: "",
		"n=v; Expires=Thu, 01-Jan-70 00:00:01 GMT":       "",
		"n=v; Expires=Thursday, 01-Jan-70 00:00:01 GMT":  "",
		"n=v; Expires=Thu Jan  1 00:00:01 1970":          "",
		"n=v; Expires=Fri, 01 Jan 2094 00:00:00 GMT":     "n=v",
		"n=v; domain=www.example; PATH=/; sameSite=None": "n=v",
		"n=v; Path=/other":                               "",
		"n=v; Secure":                                    "",
		"n=v; é=1; Path=/":                               "n=v",
	} {
		t.Run(line, func(t *testing.T) {
			playBoth(t, httpclient.Options{Cookies: cookies.New()},
				func(s *site) {
					p := s.serve("/", response("Set-Cookie: "+line+"\r\n", "x"))
					got := strings.TrimPrefix(field(p.request("/again"), "Cookie"), "Cookie: ")
					if got != want {
						t.Errorf("%q is sent as %q, want %q", line, got, want)
					}
					p.send(ok("x"))
				},
				func(b *browser) { b.reads("/", "x"); b.reads("/again", "x") })
		})
	}
}

// TestCookieFieldIsBounded checks that an unlimited jar does not make an unlimited request, and
// that a long one counts.
func TestCookieFieldIsBounded(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var many []*http.Cookie
	for i := range 1000 {
		many = append(many, &http.Cookie{Name: strings.Repeat("n", i+1), Value: "v"})
	}
	jar.SetCookies(&url.URL{Scheme: "http", Host: "www.example"}, append(many, &http.Cookie{Name: "evil", Value: "a\r\nX-Evil: 1"}))
	meter := budget.New(1 << 20)
	playBoth(t, httpclient.Options{Cookies: jar, Meter: meter},
		func(s *site) {
			p := s.accept()
			head := p.request("/")
			if held := meter.Held(); held < 7<<10 {
				t.Errorf("the request counts as %d bytes, want 7 KiB at least", held)
			}
			if got := field(head, "Cookie"); len(got) > 16<<10 || len(got) < 15<<10 || strings.Contains(head, "vil") {
				t.Errorf("a field of %d bytes, want at most 16 KiB", len(got))
			}
			p.send(ok("x"))
		},
		func(b *browser) { b.reads("/", "x") })
}

// TestCredentials checks that a credential goes only to its origin.
func TestCredentials(t *testing.T) {
	opt := httpclient.Options{Auth: []httpclient.Credential{
		{Scheme: "http", Host: "www.example", User: "first"},
		{Scheme: "http", Host: "www.example", User: "Ali", Password: "sesame é"},
		{Scheme: "http", Host: "www.example:8080", Token: "tok.en=="},
		{Scheme: "https", Host: "other.example", Token: "secret"},
	}}
	opt.Resolve = []httpclient.Override{{Host: "*", Port: 81, Addr: netip.MustParseAddr("192.0.2.1"), To: 80},
		{Host: "*", Port: 8080, Addr: netip.MustParseAddr("192.0.2.1"), To: 80}, {Host: "*", Port: 80, Addr: netip.MustParseAddr("192.0.2.1")}}
	for _, c := range []struct{ host, want string }{
		{"www.example", "Basic QWxpOnNlc2FtZSDDqQ=="},
		{"WWW.Example", "Basic QWxpOnNlc2FtZSDDqQ=="},
		{"www.example:8080", "Bearer tok.en=="},
		{"other.example", ""},
		{"www.example:81", ""},
		{"sub.www.example", ""},
		{"example", ""},
	} {
		t.Run(c.host, func(t *testing.T) {
			playBoth(t, opt,
				func(s *site) {
					p := s.accept()
					if got := strings.TrimPrefix(field(p.request("/"), "Authorization"), "Authorization: "); got != c.want {
						t.Errorf("got %q, want %q", got, c.want)
					}
					p.send(ok("x"))
				},
				func(b *browser) {
					res, err := b.client.Do(b.task, httpclient.Request{Scheme: "http", Host: c.host, Target: "/"})
					if err != nil {
						t.Fatal(err)
					}
					res.Close()
				})
		})
	}
	for _, scheme := range []string{"http", "https"} {
		playTLS(t, func(o *httpclient.Options, _ *tls.Config) {
			o.Auth = []httpclient.Credential{{Scheme: scheme, Host: "www.example", Token: "secret"}}
		},
			func(v *tlsSite) {
				c := v.admit()
				req, err := http.ReadRequest(c.in)
				if err != nil {
					t.Fatal(err)
				}
				if got := req.Header.Get("Authorization"); (got != "") != (scheme == "https") {
					t.Errorf("of %s, over TLS: %q", scheme, got)
				}
				_, _ = c.Write([]byte(ok("x")))
			},
			func(b *browser) { b.readsTLS("/", "x") })
	}
}

// TestCredentialsRefused checks that the error of an invalid credential does not reveal it.
func TestCredentialsRefused(t *testing.T) {
	for name, c := range map[string]httpclient.Credential{
		"no origin":    {User: "secret"},
		"no host":      {Scheme: "http", User: "secret"},
		"empty":        {Scheme: "http", Host: "www.example"},
		"both":         {Scheme: "http", Host: "www.example", User: "secret", Token: "secret"},
		"colon":        {Scheme: "http", Host: "www.example", User: "secret:", Password: "secret"},
		"line end":     {Scheme: "http", Host: "www.example", User: "a", Password: "secret\r\nX: y"},
		"token spaced": {Scheme: "http", Host: "www.example", Token: "secret secret"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, httpclient.Options{Auth: []httpclient.Credential{c}}, func(*site) {}, func(b *browser) {
				_, err := b.get("/")
				expectKind(t, err, httpclient.KindScheme)
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("%v tells it", err)
				}
			})
		})
	}
}
