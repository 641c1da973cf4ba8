package rendered_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestStrangers: what pages of another site ask for goes without the crawl's credential and
// cookies, is not shared with the site's own pages, and changes no cookie of theirs.
func TestStrangers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	secrets := make(map[string][]string) // by path
	victim := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		mu.Lock()
		secrets[r.URL.Path] = append(secrets[r.URL.Path], strings.TrimSpace(password+" "+r.Header.Get("Cookie")))
		mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch r.URL.Path {
		case "/", "/b":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>V</title><p id=p><script src=/own.js></script><a href=/b>b</a>")
		case "/own.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Set-Cookie", "sid=anonymous; Path=/")
			if password != "" {
				w.Header().Del("Set-Cookie")
			}
			fmt.Fprintf(w, "document.body.append('for %s')", password)
		default:
			fmt.Fprint(w, "of ", password)
		}
	})
	evil := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>E</title><p id=p><script src=%[1]s/own.js></script><script>
			for (const credentials of ['omit', 'same-origin'])
				fetch('%[1]s/open?' + credentials, {credentials}).then(r => r.text()).then(s => { p.textContent += s })
			fetch('%[1]s/blind', {mode: 'no-cors', credentials: 'include'})
		</script>`, victim.URL)
	})
	dir := t.TempDir()
	jar := filepath.Join(dir, "cookies")
	if err := os.WriteFile(jar, []byte("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tGOOD\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(victim.URL, "http://")
	e := crawls(t, wefttest.Done, "--render=always", "-c", "1", "--allow-private", "--cookies", jar, "--auth", "http://"+host+"=ada:pass", "--job", "job", "--bodies",
		strings.Replace(evil.URL, "127.0.0.1", "localhost", 1), victim.URL)
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string]string{"/": "pass sid=GOOD", "/b": "pass sid=GOOD", "/open": "|", "/blind": "", "/own.js": "|pass sid=GOOD"} {
		slices.Sort(secrets[path])
		if got := strings.Join(secrets[path], "|"); got != want {
			t.Errorf("%s was asked with %q, expected %q", path, got, want)
		}
	}
	if text := wefttest.In(t, e.Dir, "read", "--whole", "job", "-o", "-").Stdout; strings.Count(text, "for pass") != 2 {
		t.Errorf("expected two pages for pass: %s", text)
	}
}

// TestFewWorkers: a crawl with fewer fetches at once than there are tabs renders all pages, and
// ends. Its pages ask for nothing, so that no worker is there beside the one of the page.
func TestFewWorkers(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"1", "2"} {
		t.Run(n, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				var page int
				if _, err := fmt.Sscanf(r.URL.Path, "/%d", &page); err == nil && page < 5 {
					fmt.Fprintf(w, "<title>P</title><div id=app></div><script>app.innerHTML = '<a href=/%d>next</a>'</script>", page+1)
				}
			})
			e := crawls(t, wefttest.Done, "--render=always", "-c", n, "--job", "job", s.URL+"/0")
			if all := s.records(t, filepath.Join(e.Dir, "job")); len(all) != 6 {
				t.Errorf("%d pages, expected 6", len(all))
			}
		})
	}
}
