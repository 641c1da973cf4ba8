package scope

import "testing"

// TestLogsOut: links that log out are left by a crawl that is logged in, and pages that speak of it
// are not.
func TestLogsOut(t *testing.T) {
	for target, logsOut := range map[string]bool{
		"/logout":                             true,
		"/accounts/logout/":                   true,
		"/user/Sign-Out?next=/":               true,
		"/sign_out.php":                       true,
		"/LogOff.aspx":                        true,
		"/logout;jsessionid=1":                true,
		"/wp-login.php?action=logout&nonce=1": true,
		"/ucp.php?mode=logout&sid=1":          true,
		"/index.php?title=Special:UserLogout": true,
		"/wiki/Spezial%3AUserLogout":          true,
		"/?logout":                            true,
		"/?a=1&logout=true":                   true,
		"/compte/d%C3%A9connexion":            true,
		"/abmelden":                           true,
		"/se-deconnecter":                     true,
		"/cerrar-sesion":                      true,

		"/":                       false,
		"/login":                  false,
		"/docs/how-to-log-out":    false,
		"/search?q=logout":        false,
		"/tags?tag=logout":        false,
		"/blog/signout-explained": false,
		"/?action=login":          false,
		"/signup":                 false,
	} {
		u := parsed(t, "http://a.test"+target)
		for _, in := range []bool{true, false} {
			b := New(Rules{Scope: Any, LoggedIn: in})
			want := ""
			if logsOut && in {
				want = ReasonLogout
			}
			for what, got := range map[string]string{"links": b.Refuses(u, 1), "redirects": b.RefusesTarget(u, 1), "of seeds": b.RefusesTarget(u, 0), "assets": b.Forbids(u)} {
				if got != want {
					t.Errorf("%s, logged in: %t, %s: %q, expected %q", target, in, what, got, want)
				}
			}
		}
	}
}

// BenchmarkLogsOut measures the cost of each link of a crawl that is logged in.
func BenchmarkLogsOut(b *testing.B) {
	u := parsed(b, "http://a.test/doc/html/boost_asio/reference/basic_stream_socket/async_read_some.html?a=b")
	b.ReportAllocs()
	for b.Loop() {
		LogsOut(u)
	}
}
