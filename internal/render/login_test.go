package render_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// testStores: documents of an origin find stored, before their own scripts, what a page brings, and
// can change it; those of other origins, and later pages of the tab, find nothing of it.
func testStores(t *testing.T, r *render.Renderer) {
	const shows = `<!doctype html><p id=p></p><script>p.textContent = 'has ' + JSON.stringify(localStorage) + '.'; localStorage.setItem('a', '2')</script>`
	html := shows + `<iframe src=http://b.test/></iframe><iframe src=http://c.test/></iframe><iframe src=http://a.test/frame></iframe>`
	pages := map[string]string{"http://b.test/": shows, "http://c.test/": shows, "http://a.test/frame": shows}
	for range 2 {
		p := page("http://a.test/", html, pages)
		p.Stores = []render.Store{{Origin: "http://a.test", Items: [][2]string{{"a", `"1"`}}}, {Origin: "http://b.test", Items: [][2]string{{"b", "x"}}}}
		d, err := r.Render(t.Context(), p)
		if err != nil || len(d.Frames) != 3 {
			t.Fatalf("%v, %+v", err, d)
		}
		for i, want := range []string{`has {"a":"\"1\""}.`, `has {"b":"x"}.`, `has {}.`, `has {"a":"2"}.`} {
			if text := append([]render.Frame{{HTML: d.HTML}}, d.Frames...)[i].HTML; !strings.Contains(text, want) {
				t.Errorf("document %d: %s, expected %s", i, text, want)
			}
		}
	}
	d, err := r.Render(t.Context(), page("http://a.test/", html, pages))
	if err != nil || strings.Count(d.HTML+d.Frames[0].HTML+d.Frames[1].HTML, `has {}.`) != 3 {
		t.Errorf("a page without: %v, %+v", err, d)
	}
}

// TestLogIn: a form that only a redirect leads to, and cookies of both.
func TestLogIn(t *testing.T) {
	inEach(t, 1, browsers, func(t *testing.T, r *render.Renderer) {
		l, sent := behindRedirect()
		s, err := r.LogIn(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Cookies) != 2 || s.Page != "http://sso.test/login" || s.URL != "http://a.test/home" || len(s.Form) != 2 || *sent != "user=ada&pass=x%26y first=1; second=2" {
			t.Errorf("%+v, %s", s, *sent)
		}
	})
}

// TestLogInField: a form that does not come.
func TestLogInField(t *testing.T) {
	inBrowsers(t, 1, func(t *testing.T, r *render.Renderer) {
		l, _ := behindRedirect()
		l.Fields = [][2]string{{"nobody", "x"}}
		var failed *render.LoginError
		if _, err := r.LogIn(t.Context(), l); !errors.As(err, &failed) || failed.URL != "http://sso.test/login" || failed.Reason != `it has no field "nobody"` {
			t.Errorf("%v", err)
		}
	})
}

// behindRedirect returns a login whose form only a redirect leads to, and what is sent of it.
func behindRedirect() (l *render.Login, sent *string) {
	sent = new(string)
	l = &render.Login{URL: "http://a.test/", Fields: [][2]string{{"user", "ada"}, {"pass", "x&y"}}, Selector: "#in"}
	l.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
		kind := render.Field{"Content-Type", "text/html"}
		switch q.Method + " " + q.URL {
		case "GET http://a.test/":
			return &render.Response{Status: 302, Header: []render.Field{{"Location", "http://sso.test/login"}, {"Set-Cookie", "first=1"}}}, nil
		case "GET http://sso.test/login":
			return &render.Response{Status: 200, Header: []render.Field{kind}, Body: []byte(`<form method=post action=http://a.test/in><input name=user><input name=pass type=password></form>`)}, nil
		case "POST http://a.test/in":
			*sent = string(q.Body)
			return &render.Response{Status: 303, Header: []render.Field{{"Location", "/home"}, {"Set-Cookie", "second=2; HttpOnly"}}}, nil
		case "GET http://a.test/home":
			for _, f := range q.Header {
				if strings.EqualFold(f.Name, "Cookie") {
					*sent += " " + f.Value
				}
			}
			return &render.Response{Status: 200, Header: []render.Field{kind}, Body: []byte("<p id=in>")}, nil
		}
		return nil, errors.New("refused")
	}
	return l, sent
}

// TestLoginInsecure: a login over https that leads to http is given no password there.
func TestLoginInsecure(t *testing.T) {
	inBrowsers(t, 1, func(t *testing.T, r *render.Renderer) {
		l := &render.Login{URL: "https://a.test/", Fields: [][2]string{{"pass", "x"}}}
		l.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
			switch q.URL {
			case "https://a.test/":
				return &render.Response{Status: 302, Header: []render.Field{{"Location", "http://sso.test/login"}}}, nil
			case "http://sso.test/login":
				return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", "text/html"}}, Body: []byte(`<form action=/in><input name=pass type=password oninput="fetch('/stolen')"></form>`)}, nil
			}
			t.Errorf("%s was asked for", q.URL)
			return nil, errors.New("refused")
		}
		var failed *render.LoginError
		if _, err := r.LogIn(t.Context(), l); !errors.As(err, &failed) || failed.URL != "http://sso.test/login" || !strings.Contains(failed.Reason, "not https") {
			t.Errorf("%v", err)
		}
	})
}

// TestLoginErrorNamesOnce: the error of a request, which names its URL, is not named again.
func TestLoginErrorNamesOnce(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"it asks for more":                        "http://a.test/in: it asks for more",
		"http://a.test/in: connect: refused":      "http://a.test/in: connect: refused",
		"http://b.test/x: status 404 of its form": "http://a.test/in: http://b.test/x: status 404 of its form",
	} {
		if got := (&render.LoginError{URL: "http://a.test/in?x=1", Reason: reason}).Error(); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}
