package fetch

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// newOutlinks returns how a crawl of the host a.test judges what its pages lead to.
func newOutlinks(t *testing.T, cfg *Config) *outlinks {
	t.Helper()
	cfg.Scope.Scope = scope.Host
	o := &outlinks{cfg: cfg, bounds: scope.New(cfg.Scope), reach: new(reach)}
	*o.reach = newReach()
	o.bounds.Open(url(t, "http://a.test/"))
	return o
}

// TestRedirect: the redirect of a seed may leave the scope, that of another URL may not; where it
// leads is requested as it is written, or the record or a count says why it is not.
func TestRedirect(t *testing.T) {
	const digest = "0123456789abcdef"
	page := url(t, "http://a.test/page")
	for _, c := range []struct {
		name     string
		u        frontier.URL
		status   int
		location string
		target   string // "": none
		written  string
		kind     string // of the record's error
		dropped  string
	}{
		{name: "within the scope", u: frontier.URL{URL: page, Depth: 1}, location: "/next", target: "http://a.test/next"},
		{name: "out of it", u: frontier.URL{URL: page, Depth: 1}, location: "http://b.test/", dropped: scope.ReasonScope},
		{name: "of a seed", u: frontier.URL{URL: page}, location: "http://b.test/", target: "http://b.test/"},
		{name: "to an excluded URL", u: frontier.URL{URL: page, Depth: 1}, location: "/no", dropped: scope.ReasonExclude},
		{name: "to a blocked port", u: frontier.URL{URL: page}, location: "http://b.test:25/", dropped: scope.ReasonPort},
		{name: "to another scheme", u: frontier.URL{URL: page}, location: "mailto:a@a.test", kind: record.KindLocation},
		{name: "to no URL", u: frontier.URL{URL: page}, location: "http://[", kind: record.KindLocation},
		{name: "too far", u: frontier.URL{URL: page}, location: "/" + strings.Repeat("a", scope.MaxURL), dropped: scope.ReasonTooLong},
		{name: "to another spelling", u: frontier.URL{URL: page}, location: "/%7Eann", target: "http://a.test/~ann", written: "/%7Eann"},
		{
			name: "of a POST", u: frontier.URL{URL: page.WithPost(digest), Data: "text/plain\x00body"}, status: 302,
			location: "/done", target: "http://a.test/done",
		},
		{
			name: "of a POST that is sent again", u: frontier.URL{URL: page.WithPost(digest)}, status: 307,
			location: "/done", target: "http://a.test/done#POST-" + digest,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := new(Config)
			cfg.Scope.Exclude = []*regexp.Regexp{regexp.MustCompile("/no$")}
			out := &Outcome{URL: c.u, Record: &record.Record{URL: c.u.URL.String(), Status: c.status}}
			newOutlinks(t, cfg).redirect(out, c.location)
			target, written, dropped := "", "", ""
			if out.Target != nil {
				target, written = out.Target.URL.String(), out.Target.Written
				if out.Target.Data != "" || out.Target.From != out.Record.URL {
					t.Errorf("the target has the data %q and comes from %s", out.Target.Data, out.Target.From)
				}
			}
			if len(out.Dropped) > 0 {
				dropped = out.Dropped[0].Reason
			}
			if target != c.target || written != c.written || out.Record.ErrorKind != c.kind || dropped != c.dropped {
				t.Errorf("target %q, written %q, error %q, dropped %q", target, written, out.Record.ErrorKind, dropped)
			}
		})
	}
}

// TestGuessIsNone: the target of a redirect has a scheme of its own, even if that of its source was
// a guess.
func TestGuessIsNone(t *testing.T) {
	out := &Outcome{URL: frontier.URL{URL: url(t, "https://a.test/"), Rank: GuessedRank}, Record: new(record.Record)}
	if newOutlinks(t, new(Config)).redirect(out, "/next"); out.Target == nil || out.Target.Rank != 0 {
		t.Errorf("%+v", out.Target)
	}
	if instead, ok := Instead(out.URL, "connect"); !ok || instead.URL.String() != "http://a.test/" || instead.From != "https://a.test/" {
		t.Errorf("in place of a guess that fails comes %v, %v", instead.URL, ok)
	}
	if _, ok := Instead(*out.Target, "connect"); ok {
		t.Error("the scheme of a redirect's target counts as a guess")
	}
}

// TestBeyond: of what is not followed, a mirror has what its pages need, and a check asks for the
// links. Style sheets lead to others, but not for ever.
func TestBeyond(t *testing.T) {
	inside, outside := url(t, "http://a.test/1"), url(t, "http://b.test/1")
	deep := frontier.URL{URL: inside, Role: frontier.RoleAsset, Rank: -maxImports}
	for _, c := range []struct {
		name   string
		assets scope.Assets
		check  bool
		from   frontier.URL
		needed bool
		reason string
		role   frontier.Role
		want   string // reason
	}{
		{name: "a link out", reason: scope.ReasonScope, want: scope.ReasonScope},
		{name: "checked", check: true, reason: scope.ReasonScope, role: frontier.RoleExternal},
		{name: "an image out", assets: scope.AssetsAny, needed: true, reason: scope.ReasonScope, role: frontier.RoleAsset},
		{name: "of hosts within", assets: scope.AssetsScope, needed: true, reason: scope.ReasonScope, want: scope.ReasonScope},
		{name: "too deep", assets: scope.AssetsScope, needed: true, reason: scope.ReasonDepth, role: frontier.RoleAsset},
		{name: "nofollow", assets: scope.AssetsAny, needed: true, reason: scope.ReasonNoFollow, want: scope.ReasonNoFollow},
		{name: "excluded", assets: scope.AssetsAny, check: true, needed: true, reason: scope.ReasonExclude, want: scope.ReasonExclude},
		{name: "once too often", assets: scope.AssetsAny, from: deep, needed: true, reason: scope.ReasonScope, want: scope.ReasonScope},
	} {
		cfg := &Config{Scope: scope.Rules{Assets: c.assets}, Check: Check{Beyond: c.check}}
		role, reason := newOutlinks(t, cfg).beyond(&c.from, outside, c.needed, c.reason)
		if role != c.role || reason != c.want {
			t.Errorf("%s: role %v, %q; expected %v, %q", c.name, role, reason, c.role, c.want)
		}
	}
}

// TestTrusts: a host is trusted as a seed only for that seed's own requests, and no host with
// distrust.
func TestTrusts(t *testing.T) {
	given, listed, other := url(t, "http://a.test/"), url(t, "http://b.test/"), url(t, "http://c.test/")
	r := newReach()
	r.trust([]weburl.URL{given})
	for _, c := range []struct {
		lease frontier.URL
		at    string
		want  guard.Trust
	}{
		{frontier.URL{URL: given, Seed: true}, "http://a.test/x", guard.Given},
		{frontier.URL{URL: listed, Seed: true}, "http://b.test/x", guard.Listed},
		{frontier.URL{URL: given, Seed: true}, "http://c.test/", guard.Linked}, // by a redirect
		{frontier.URL{URL: given}, "http://a.test/x", guard.Linked},            // not a seed now
		{frontier.URL{URL: other}, "http://c.test/", guard.Linked},
	} {
		if got := r.trusts(c.lease, url(t, c.at)); got != c.want {
			t.Errorf("%v on the way from %v: %v, expected %v", c.at, c.lease.URL, got, c.want)
		}
	}
	r = newReach()
	r.distrust = true
	r.trust([]weburl.URL{given})
	if got := r.trusts(frontier.URL{URL: given, Seed: true}, given); got != guard.Linked || r.knows("http", "a.test") {
		t.Errorf("with distrust: %v", got)
	}
}

// TestKnows: the user's secrets go to the origins of seeds, and to the https of those of plain
// http.
func TestKnows(t *testing.T) {
	r := newReach()
	r.know([]weburl.URL{url(t, "http://a.test/"), url(t, "https://b.test/"), url(t, "http://c.test:8080/")})
	for origin, want := range map[string]bool{
		"http://a.test": true, "https://a.test": true, "https://b.test": true, "http://b.test": false,
		"http://c.test:8080": true, "https://c.test:8080": false, "https://c.test": false, "http://d.test": false,
	} {
		if scheme, host, _ := strings.Cut(origin, "://"); r.knows(scheme, host) != want {
			t.Errorf("%s: %v", origin, !want)
		}
	}
}

// TestKinds: a crawl requests what its pages lead to; assets and what is only checked if it is
// asked to.
func TestKinds(t *testing.T) {
	plain, mirrors, checks := Config{}, Config{Scope: scope.Rules{Assets: scope.AssetsAny}}, Config{Check: Check{All: true}}
	for _, x := range []struct {
		kind links.Kind
		in   string // of plain, mirrors, checks: those that request it, with its role
	}{
		{links.KindPage, "page page page"},
		{links.KindStyle, "page needed page"},
		{links.KindImage, "- needed -"},
		{links.KindForm, "- - external"},
	} {
		var got []string
		for _, c := range []*Config{&plain, &mirrors, &checks} {
			role, ok := c.within(x.kind)
			word := map[frontier.Role]string{frontier.RolePage: "page", frontier.RoleNeeded: "needed", frontier.RoleExternal: "external"}[role]
			if !ok {
				word = "-"
			}
			if c.wanted().Has(x.kind) != ok {
				t.Errorf("%v is wanted: %v", x.kind, !ok)
			}
			got = append(got, word)
		}
		if s := strings.Join(got, " "); s != x.in {
			t.Errorf("%v: %s, expected %s", x.kind, s, x.in)
		}
	}
}
