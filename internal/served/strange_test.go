package served

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
	"golang.org/x/net/dns/dnsmessage"
)

// TestStrangeJobs: a job that is damaged, cut off, none or of another version is answered with a
// short line, and with a crawl that fails; the others go on.
func TestStrangeJobs(t *testing.T) {
	t.Parallel()
	web, _ := site(t, 3)
	dir := t.TempDir()
	s := serve(t, dir, "--allow-private")
	good := s.until(s.start(map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"warc": true}}).ID).ID
	s.signal(syscall.SIGTERM)
	each := func(job string, to func(text []byte) []byte) {
		t.Helper()
		err := filepath.WalkDir(job, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, to(text), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	strange := map[string]func(job string){
		"cut": func(job string) { each(job, func(text []byte) []byte { return text[:len(text)/2] }) },
		"garbage": func(job string) {
			each(job, func(text []byte) []byte { return bytes.Repeat([]byte{0xff, '{', '\n'}, 1000) })
		},
		"empty": func(job string) { each(job, func([]byte) []byte { return nil }) },
		"zero":  func(job string) { each(job, func(text []byte) []byte { return make([]byte, len(text)) }) },
		"newer": func(job string) {
			each(job, func(text []byte) []byte {
				return bytes.ReplaceAll(text, []byte(`"version":"`), []byte(`"version":"999.`))
			})
			if err := os.WriteFile(filepath.Join(job, "state", "FORMAT"), []byte("999\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"none": func(job string) { _ = os.RemoveAll(job) },
		"file": func(job string) { _ = os.RemoveAll(job); _ = os.WriteFile(job, []byte("{}"), 0o600) },
		"link": func(job string) { _ = os.RemoveAll(job); _ = os.Symlink("/etc", job) },
		"loop": func(job string) {
			_ = os.RemoveAll(filepath.Join(job, "state"))
			_ = os.Symlink(".", filepath.Join(job, "state"))
		},
	}
	for name, spoil := range strange {
		for _, kind := range []string{".json", ".toml"} {
			text, err := os.ReadFile(filepath.Join(dir, good+kind))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name+kind), bytes.ReplaceAll(text, []byte(good), []byte(name)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		job := filepath.Join(dir, name+".weft")
		if err := os.CopyFS(job, os.DirFS(filepath.Join(dir, good+".weft"))); err != nil {
			t.Fatal(err)
		}
		spoil(job)
	}
	// What stands for a crawl itself is left alone.
	for name, text := range map[string]string{"a.json": "{", "b.json": `{"name":"c"}`, "c.json": strings.Repeat("[", 100_000), "d.toml": "[crawl\n", "e.toml": "\xff"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = serve(t, dir, "--allow-private")
	for name := range strange {
		at := "/v1/crawls/" + name
		for _, path := range []string{
			at, at + "/pages", at + "/pages?format=markdown", at + "/urls", at + "/errors", at + "/hosts", at + "/why?url=" + web.URL + "/1", at + "/check", at + "/files", at + "/export", at + "/export?format=csv",
			at + "/changes", at + "/changes/2", at + "/changes.atom", at + "/files/pages.jsonl", "/crawls/" + name + "/v1/status", "/crawls/" + name + "/v1/urls", "/v2/crawl/" + name, "/v2/crawl/" + name + "/errors", "/metrics",
		} {
			if status, text := s.ask("GET", path, nil, nil); status >= 400 && len(text) > 3000 || strings.Contains(text, dir) || strings.Contains(text, "root:") {
				t.Errorf("%s: %d %.500s", path, status, text)
			}
		}
		if status, text := s.ask("POST", at+"/resume", nil, nil); status != http.StatusAccepted {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	for name := range strange {
		if c := s.until(name); name != "none" && name != "cut" && c.State != "failed" || c.State == "failed" && c.Message == "" {
			t.Errorf("%s: %+v", name, c)
		}
		if status, _ := s.ask("DELETE", "/v1/crawls/"+name, nil, nil); status != http.StatusNoContent {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, text := s.ask("GET", "/v1/crawls/"+good+"/check", nil, nil); status != http.StatusOK || !strings.Contains(text, "totals") {
		t.Errorf("%d %s", status, text)
	}
	if _, err := os.Stat("/etc/passwd"); err != nil {
		t.Error(err)
	}
}

// nameServer answers for all names, with what answer returns for each look-up of an address.
func nameServer(t *testing.T, answer func(name string, v6 bool) []netip.Addr) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for b := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			q := m.Questions[0]
			for _, a := range answer(strings.TrimSuffix(q.Name.String(), "."), q.Type == dnsmessage.TypeAAAA) {
				r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}}
				if a.Is4() && q.Type == dnsmessage.TypeA {
					r.Body = &dnsmessage.AResource{A: a.As4()}
				} else if a.Is6() && q.Type == dnsmessage.TypeAAAA {
					r.Body = &dnsmessage.AAAAResource{AAAA: a.As16()}
				} else {
					continue
				}
				m.Answers = append(m.Answers, r)
			}
			if text, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(text, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// TestRebinding: a name that leads to a public address first, and to this machine later or as well,
// leads nobody here: no page, no crawl, no webhook.
func TestRebinding(t *testing.T) {
	t.Parallel()
	web, asked := site(t, 3)
	_, port, _ := strings.Cut(strings.TrimPrefix(web.URL, "http://"), ":")
	var looked, blocked atomic.Int64
	var mu sync.Mutex
	times := make(map[string]int)
	// A test may have no IPv6: the public address then leads nowhere.
	public, here := netip.MustParseAddr("2001:4860:4860::8888"), netip.MustParseAddr("127.0.0.1")
	server := nameServer(t, func(name string, v6 bool) []netip.Addr {
		looked.Add(1)
		mu.Lock()
		defer mu.Unlock()
		times[name]++
		switch {
		case strings.HasPrefix(name, "both"):
			return []netip.Addr{public, here, netip.MustParseAddr("::1")}
		case times[name] <= 2: // of both families
			return []netip.Addr{public}
		}
		return []netip.Addr{here}
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "weft.toml"), []byte("[crawl]\ndns = \""+server+"\"\nretries = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	// The kernel takes seconds to find that there is no way to the public address: all try at once.
	var all sync.WaitGroup
	for _, name := range []string{"both", "later"} {
		url := "http://" + name + ".example.com:" + port
		hooked := s.start(map[string]any{"urls": []string{"http://crawl-" + name + ".example.com:" + port + "/"}, "webhook": map[string]any{"url": url + "/hook", "secret": "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="}})
		for path, body := range map[string]string{"/v1/scrape": `{"url":"` + url + `/1"}`, "/v1/map": `{"url":"` + url + `"}`, "/v2/scrape": `{"url":"` + url + `/2"}`} {
			all.Go(func() {
				for range 2 {
					status, text := s.send(path, body)
					if status < 400 {
						t.Errorf("%s %s: %d %s", path, name, status, text)
					}
					if name == "later" && strings.Contains(text, "127.0.0.1") {
						blocked.Add(1)
					}
				}
			})
		}
		all.Go(func() {
			if c := s.until(hooked.ID); c.State != "failed" {
				t.Errorf("%+v", c)
			}
		})
	}
	all.Wait()
	if blocked.Load() < 3 {
		t.Errorf("%d requests were blocked, expected those after the first ones", blocked.Load())
	}
	if looked.Load() == 0 || len(asked()) > 0 {
		t.Errorf("%d look-ups, %v", looked.Load(), asked())
	}
}

// TestRenderedDoors: no request of a page that is rendered leads to a private address, whatever
// makes it.
func TestRenderedDoors(t *testing.T) {
	t.Parallel()
	if _, err := weft.FindBrowser(""); err != nil {
		t.Skip(err)
	}
	private, asked := site(t, 3)
	var mu sync.Mutex
	seen := make(map[string]bool)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.Method+" "+r.URL.String()] = true
		mu.Unlock()
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			var page strings.Builder
			for i, at := range []string{private.URL, strings.Replace(private.URL, "127.0.0.1", "localhost", 1), "http://169.254.169.254", "/away?" + private.URL, "http://public.test/ok"} {
				fmt.Fprintf(&page, `<img src="%[1]s/img%[2]d"><script src="%[1]s/script%[2]d"></script><link rel=stylesheet href="%[1]s/css%[2]d"><iframe src="%[1]s/frame%[2]d"></iframe>
				<link rel=preload as=fetch href="%[1]s/preload%[2]d"><video src="%[1]s/video%[2]d" autoplay></video><object data="%[1]s/object%[2]d"></object><style>@font-face{font-family:f%[2]d;src:url(%[1]s/font%[2]d)}p{font-family:f%[2]d;background:url(%[1]s/back%[2]d)}</style>
				<script>fetch("%[1]s/fetch%[2]d",{mode:"no-cors"}).catch(()=>{});try{let x=new XMLHttpRequest();x.open("GET","%[1]s/xhr%[2]d");x.send()}catch{}
				try{new WebSocket("%[1]s/ws%[2]d".replace("http","ws"))}catch{};try{new EventSource("%[1]s/sse%[2]d")}catch{};try{navigator.sendBeacon("%[1]s/beacon%[2]d","x")}catch{};try{new Worker("%[1]s/worker%[2]d")}catch{};try{open("%[1]s/open%[2]d")}catch{}
				import("%[1]s/module%[2]d").catch(()=>{})</script>`, at, i)
			}
			fmt.Fprint(w, "<title>T</title><p id=p>text</p>"+page.String()+"<script>p.textContent = 'made by a script'</script>")
		case "/away":
			http.Redirect(w, r, r.URL.RawQuery+"/redirected", http.StatusFound)
		case "/leaves":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<p>x<script>location = '%s/left'</script>", private.URL)
		default:
			if strings.HasPrefix(r.URL.Path, "/away") {
				http.Redirect(w, r, strings.TrimSuffix(r.URL.RawQuery, "/")+"/redirected", http.StatusFound)
			}
		}
	}))
	defer proxy.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "weft.toml"), []byte("[crawl]\nproxy = \""+proxy.URL+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, "--render")
	if status, text := s.send("/v1/scrape", `{"url":"http://public.test/","render":"always","whole":true,"formats":["markdown","screenshot"]}`); status != http.StatusOK || !strings.Contains(text, "made by a script") {
		t.Errorf("%d %.500s", status, text)
	}
	_, left := s.send("/v1/scrape", `{"url":"http://public.test/leaves","render":"always","formats":["html","screenshot"]}`)
	if strings.Contains(left, "The text of page") {
		t.Error(left)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"img4", "fetch4", "frame4", "xhr4", "script4"} {
		if !seen["GET http://public.test/ok/"+want] {
			t.Errorf("%s was not requested, so that nothing was tried", want)
		}
	}
	for request := range seen {
		if !strings.Contains(request, " http://public.test/") {
			t.Errorf("requested: %s", request)
		}
	}
	if len(asked()) > 0 {
		t.Error(asked())
	}
}

// TestPlainSession: the cookie of a person without TLS is for this server's requests alone, no
// token, and no longer valid than his session.
func TestPlainSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := strings.TrimSpace(wefttest.Run(t, "serve", "--add-token", "me", dir).Stdout)
	s := serve(t, dir, "--listen", "0.0.0.0:0", "--plain-http")
	s.url = "http://127.0.0.1" + s.url[strings.LastIndex(s.url, ":"):]
	resp, err := http.Post(s.url+"/session", "application/json", strings.NewReader(`{"token":"`+token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	all := resp.Cookies()
	if len(all) != 1 || !all[0].HttpOnly || all[0].Secure || all[0].SameSite != http.SameSiteStrictMode || all[0].Domain != "" || strings.Contains(all[0].Value, token) {
		t.Fatalf("%s %v", resp.Status, all)
	}
	cookie := all[0].Name + "=" + all[0].Value
	ask := func(want int, method, path string, header ...string) {
		t.Helper()
		if status, text := s.ask(method, path, nil, nil, header...); status != want {
			t.Errorf("%s %s %q: %d %.200s, expected %d", method, path, header, status, text, want)
		}
	}
	ask(200, "GET", "/v1/crawls", "Cookie", cookie)
	ask(401, "GET", "/v1/crawls", "Authorization", "Bearer "+all[0].Value)
	ask(401, "GET", "/v1/crawls", "Cookie", cookie, "Authorization", "Bearer weft_wrong")
	ask(401, "GET", "/v1/crawls", "Cookie", cookie+"x")
	ask(401, "GET", "/v1/crawls?token="+token)
	ask(401, "GET", "/v1/crawls", "Cookie", all[0].Name+"="+token)
	ask(403, "DELETE", "/v1/crawls/x", "Cookie", cookie, "Origin", "http://evil.test", "Sec-Fetch-Site", "cross-site")
	ask(403, "DELETE", "/v1/crawls/x", "Cookie", cookie, "Origin", "http://127.0.0.1:1")
	ask(200, "GET", "/v1/crawls", "Cookie", "a=b; "+cookie)
	ask(204, "DELETE", "/session", "Cookie", cookie)
	ask(401, "GET", "/v1/crawls", "Cookie", cookie)
}
