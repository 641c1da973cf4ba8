// Package pages_test runs the commands of the pages.
package pages_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestPages runs every command of the pages for people, as a reader would: in order, in one
// folder for each page, by a shell. example.org and its like are local servers behind a proxy
// that the environment names, so the commands run unchanged.
//
// A command is a line of a block that is marked as sh, or one after "$ " in a block that is
// marked as console; what follows there is its output. A comment may name its exit status: 0
// without one. Output is compared except for its figures, unless it has a line "…" in place of
// others. With WEFT_UPDATE=1 the pages get the output of today.
//
// Pages in testdata run what the text of a page names outside its blocks: see TestPagesInline of
// cmd/weft.
func TestPages(t *testing.T) {
	t.Parallel()
	weft := wefttest.Program(t)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	inline, err := filepath.Glob("testdata/*.md")
	if err != nil || len(inline) == 0 {
		t.Fatalf("no pages in testdata: %v", err)
	}
	for _, path := range append(append(pages, "../../README.md"), inline...) {
		t.Run(strings.TrimPrefix(strings.TrimPrefix(path, "../../"), "docs/"), func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(page)
			p := &manual{t: t, weft: weft, lines: strings.Split(text, "\n")}
			if path == "testdata/cluster.md" {
				p.bash = newBash(t, weft)
				p.bash.serveNKey("10.0.0.6")
			}
			p.run()
			if now := strings.Join(p.done, "\n"); os.Getenv("WEFT_UPDATE") == "1" && now != text {
				if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestMain(m *testing.M) { wefttest.Main(m, 8) }

// manual is one page whose commands are run.
type manual struct {
	t     *testing.T
	weft  string // the command
	lines []string
	done  []string // the lines so far, with the output of today
	bash  *bash    // nil: no command was run yet
}

// run runs the commands of a page.
func (p *manual) run() {
	for i := 0; i < len(p.lines); i++ {
		kind, fenced := strings.CutPrefix(p.lines[i], "```")
		if !fenced {
			if strings.HasPrefix(p.lines[i], "    weft ") {
				p.t.Errorf("line %d: a command outside a block that is marked as sh or console", i+1)
			}
			p.done = append(p.done, p.lines[i])
			continue
		}
		start := i + 1
		for i++; i < len(p.lines) && p.lines[i] != "```"; i++ {
		}
		block := p.lines[start:i]
		p.done = append(p.done, p.lines[start-1])
		switch kind {
		case "sh":
			p.commands(start, block)
		case "console":
			p.transcript(start, block)
		default:
			p.done = append(p.done, block...)
		}
		p.done = append(p.done, "```")
	}
	if p.bash != nil {
		p.bash.end()
	}
}

// commands runs the lines of a block; a backslash joins two.
func (p *manual) commands(at int, block []string) {
	p.done = append(p.done, block...)
	command := ""
	for i, line := range block {
		part, more := strings.CutSuffix(line, "\\")
		if command += part; !more {
			p.command(at+i+1, command)
			command = ""
		}
	}
}

// transcript runs the commands of a block and compares their output with what follows them.
func (p *manual) transcript(at int, block []string) {
	for i := 0; i < len(block); {
		prompt, isCommand := strings.CutPrefix(block[i], "$ ")
		if !isCommand {
			p.t.Errorf("line %d: output of no command", at+i+1)
			return
		}
		start := i + 1
		for i++; i < len(block) && !strings.HasPrefix(block[i], "$ "); i++ {
		}
		output, ran := p.command(at+start, prompt)
		now := strings.Split(strings.TrimRight(output, "\n"), "\n")
		was := block[start:i]
		elided := slices.ContainsFunc(was, func(line string) bool { return strings.TrimSpace(line) == "…" })
		if !ran || elided || slices.EqualFunc(was, now, alike) {
			now = was
		} else if os.Getenv("WEFT_UPDATE") != "1" {
			p.t.Errorf("line %d: %s printed\n%s\nexpected\n%s", at+start, prompt, strings.Join(now, "\n"), strings.Join(was, "\n"))
		}
		p.done = append(append(p.done, block[start-1]), now...)
	}
}

// figures match the text that differs from run to run.
var figures = regexp.MustCompile(`[0-9]+([.,:][0-9]+)*( (µs|ms|s|B|kB|MB|GB)\b)?|\s+`)

// alike reports whether two lines of output differ in figures at most.
func alike(a, b string) bool {
	return figures.ReplaceAllString(a, "#") == figures.ReplaceAllString(b, "#")
}

// unrun are commands that are not for a test: they install, build or measure.
var unrun = regexp.MustCompile(`^(CGO_ENABLED=0 )?(go (install|get|test|tool)|go -C bench|go run \./examples|make|git|weft-lab)\b`)

// rendered are commands that take a browser.
var rendered = regexp.MustCompile(`--(render|wait|scroll|click|screenshot|pdf)\b|weft login .*--field`)

// hasBrowser reports whether there is a browser that renders pages.
func hasBrowser() bool {
	_, err := render.Find("")
	return err == nil
}

var aside = regexp.MustCompile(`\s+#\s.*$`)

var exitStatus = regexp.MustCompile(`# .*exit status (\d+)`)

// command runs one, and returns what it printed.
func (p *manual) command(line int, text string) (output string, ran bool) {
	p.t.Helper()
	want := 0
	if m := exitStatus.FindStringSubmatch(text); m != nil {
		want, _ = strconv.Atoi(m[1])
	}
	command := strings.TrimSpace(aside.ReplaceAllString(text, ""))
	command = strings.Replace(command, "go run ./cmd/weft ", "weft ", 1)
	if command == "" || strings.HasPrefix(command, "#") || unrun.MatchString(command) {
		return "", false
	}
	if rendered.MatchString(command) && !hasBrowser() {
		p.t.Logf("line %d: %s: not run, as there is no Chromium", line, command)
		return "", false
	}
	if p.bash == nil {
		p.bash = newBash(p.t, p.weft)
	}
	started := time.Now()
	code, output := p.bash.run(command, want)
	if code != want {
		p.t.Errorf("line %d: %s: exit status %d, expected %d\n%s", line, command, code, want, output)
	}
	p.t.Logf("%5d ms  %s", time.Since(started).Milliseconds(), command)
	return output, true
}

// bash runs commands in a folder.
type bash struct {
	t          *testing.T
	dir        string
	env        []string
	rewrite    *strings.Replacer
	background []*exec.Cmd
}

// newBash returns one with the commands in its path, the files of pageFiles, and a web of
// its own.
func newBash(t *testing.T, weft string) *bash {
	s := &bash{t: t, dir: t.TempDir()}
	bin := t.TempDir()
	if err := os.Mkdir(filepath.Join(s.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range pageFiles {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, program := range map[string]string{"weft": weft, "weft-nats": wefttest.NATS(t)} {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "rsync"), []byte("#!/bin/sh\nexec test -f \"${2#*:}/pages.jsonl\"\n"), 0o700); err != nil {
		// All machines have one folder.
		t.Fatal(err)
	}
	for _, tool := range []string{"jq", "sqlite3"} { // whoever has none checks less
		if _, err := exec.LookPath(tool); err != nil {
			if err := os.WriteFile(filepath.Join(bin, tool), []byte("#!/bin/sh\ncat >/dev/null\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	site := exampleSite{}
	plain, secure := httptest.NewServer(site), httptest.NewUnstartedServer(site)
	certificate, authority := certificateFor(t, "example.org", "www.example.org", "example.net")
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of crawls that are killed in a handshake
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	trusted := filepath.Join(s.dir, "ca.pem")
	if err := os.WriteFile(trusted, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	hosts := make(map[string]string)
	for _, host := range []string{"example.org", "www.example.org", "example.net"} {
		hosts[host+":80"], hosts[host+":443"] = at(plain), at(secure)
	}
	proxy := newProxy(t, hosts)
	// Linux has all of 127.0.0.0/8.
	nats, machines := freeAddress(t), fmt.Sprintf("127.%d.%d.", 1+os.Getpid()/256%250, os.Getpid()%256)
	s.write(certificateFor(t, machines+"5"))
	server := freeAddress(t)
	s.rewrite = strings.NewReplacer("weft serve crawls", "weft serve --listen "+server+" crawls", "127.0.0.1:9339", server, "127.0.0.1:9337", freeAddress(t), "curl ", "curl -f --noproxy '*' ",
		"127.0.0.1:8000", at(plain), "127.0.0.1:8443", at(secure),
		"http://proxy.example:3128", proxy,
		"weft-nats", "weft-nats --listen "+nats, "weft replay e", "weft replay --listen 127.0.0.1:0 e", "127.0.0.1:4222", nats,
		"--job one.weft", "--job one.weft --delay 1s", // it must not end before a node has joined
		"10.0.0.", machines, "/var/lib/weft", s.dir)
	s.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+s.dir,
		"http_proxy="+proxy, "https_proxy="+proxy, "SSL_CERT_FILE="+trusted)
	return s
}

// write writes the certificate of a server of NATS, its key and its authority.
func (s *bash) write(pair tls.Certificate, authority []byte) {
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		s.t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"cert.pem": authority, "authority.pem": authority, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), text, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// serveNKey runs a NATS server that lets in whoever has the key in nkey.txt.
func (s *bash) serveNKey(host string) {
	const seed, public = "SUAKF66AMWA7LWDICKNW7VN3I43KOWJW7KHNRBQIFTA7WP24TJQ6QB6RKQ", "UCP2TBCVCNFLOXUF2NZWQJLQNQTE4I2222BR2SAECY54ZOHQWLX3VNOZ"
	n, err := natsserver.NewServer(&natsserver.Options{
		Host: s.rewrite.Replace(host), Port: 4222, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: s.t.TempDir(), Nkeys: []*natsserver.NkeyUser{{Nkey: public}},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "nkey.txt"), []byte(seed+"\n"), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	go n.Start()
	s.t.Cleanup(n.Shutdown)
}

// run runs a command. One that ends in & is left running until the page ends. A ctl, and what is
// for a server or the nodes of a crawl, wait until it has begun.
func (s *bash) run(command string, want int) (code int, output string) {
	command, inBackground := strings.CutSuffix(command, "&")
	if inBackground {
		cmd := s.command(command, nil)
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		s.background = append(s.background, cmd)
		return want, ""
	}
	ofCrawl := strings.HasPrefix(command, "weft ctl ") || strings.HasPrefix(command, "curl ") || strings.Contains(command, " --cluster ")
	early := ofCrawl && len(s.background) > 0
	for until := time.Now().Add(20 * time.Second); ; {
		var out bytes.Buffer
		code = wefttest.ExitCode(s.command(command, &out).Run())
		if code == want || !early || time.Now().After(until) {
			return code, out.String()
		}
	}
}

// command is one to be run by bash.
func (s *bash) command(text string, output io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", "set -o pipefail; "+s.rewrite.Replace(text)+"\nexit $?")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// end waits for what was left running: first for crawls, which may need servers, as these run until
// they are interrupted.
func (s *bash) end() {
	var servers []*exec.Cmd
	for _, cmd := range s.background {
		if strings.Contains(cmd.Args[2], "weft-nats") || strings.Contains(cmd.Args[2], "weft serve") {
			servers = append(servers, cmd)
		} else {
			s.wait(cmd)
		}
	}
	for _, cmd := range servers {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	s.wait(servers...)
}

func (s *bash) wait(all ...*exec.Cmd) {
	for _, cmd := range all {
		if code := wefttest.ExitCode(cmd.Wait()); code != wefttest.Done && code != wefttest.Interrupted {
			s.t.Errorf("%s: exit status %d", cmd.Args[2], code)
		}
	}
}

// freeAddress returns an address of this machine on which nobody listens.
func freeAddress(t *testing.T) string {
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + ports[0]
}

// newProxy is a proxy that knows the addresses of hosts, both HOST:PORT.
func newProxy(t *testing.T, hosts map[string]string) string {
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Host, r.Out.Host = hosts[r.In.Host+":80"], r.In.Host
	}, ErrorLog: log.New(io.Discard, "", 0)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			forward.ServeHTTP(w, r)
			return
		}
		there, err := net.Dial("tcp", hosts[r.Host])
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, in, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer here.Close()
		_, _ = here.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		go func() {
			_, _ = io.Copy(there, in)
			_ = there.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(here, there)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// certificateFor makes a certificate of hosts, and returns it in PEM too, as one to trust.
func certificateFor(t *testing.T, hosts ...string) (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// pageFiles are the files that the commands of the pages read.
var pageFiles = map[string]string{
	"urls.txt":    "https://example.org/about\nhttps://example.org/docs/\n",
	"cookies.txt": "# Netscape HTTP Cookie File\nexample.org\tFALSE\t/\tTRUE\t0\tsession\t4711\n",
	"secret.txt":  "ada:lovelace\n",
	"robots.txt":  "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\nCrawl-delay: 0.5\n",
	"app.js":      `fetch("https://example.org/api/search")`,
	"page.html":   `<!doctype html><meta charset=utf-8><title>Page</title><a href="a.html">A</a> <img src=logo.png>`,

	"shop.html": "<!doctype html>\n<title>Red shoe</title>\n<h1>Red <em>shoe</em></h1>\n<p class=price>Only <b>1,234.50</b> €</p>\n<ul><li class=tag>red</li><li class=tag>shoe</li></ul>\n" +
		"<meta property=og:type content=product><script type=\"application/ld+json\">{\"@type\":\"Product\",\"name\":\"Red shoe\"}</script>\n",

	"query.json": `{"q": "red shoes"}`, "ada.png": "\x89PNG",

	"README.md":     "# A project\n\n[Guide](docs/guide.md), [gone](docs/gone.md)\n",
	"docs/guide.md": "# Guide\n\n[Home](../README.md#a-project)\n",
}

// exampleSite is example.org: a page of each kind that the pages for people speak of. Two of them
// are not what they were to whoever asks with a condition: whoever crawls the site again.
type exampleSite struct{}

func (exampleSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Host == "example.org" && r.TLS == nil && r.URL.Path != "/robots.txt" {
		http.Redirect(w, r, "https://example.org"+r.URL.RequestURI(), http.StatusMovedPermanently)
		return
	}
	path := r.URL.Path
	again := r.Header.Get("If-None-Match") != ""
	switch {
	case path == "/robots.txt":
		fmt.Fprintf(w, "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\nSitemap: https://%s/sitemap.xml\n", r.Host)
		return
	case path == "/headers":
		_ = r.Header.Write(w)
		return
	case path == "/cookie":
		http.SetCookie(w, &http.Cookie{Name: "visit", Value: "1"})
	case path == "/account":
		http.SetCookie(w, &http.Cookie{Name: "member", Value: "1"})
	case path == "/old":
		http.Redirect(w, r, "/docs/", http.StatusMovedPermanently)
		return
	case path == "/sitemap.xml":
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(w, `<urlset><url><loc>https://%s/hidden</loc><lastmod>2026-11-01</lastmod></url></urlset>`, r.Host)
		return
	case path == "/docs/legacy" && again:
		http.Error(w, "it is gone", http.StatusGone)
		return
	case path == "/news" && again:
		path = "/news/2"
	}
	text, ok := examplePages[path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if path == "/style.css" {
		w.Header().Set("Content-Type", "text/css")
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, len(text)))
	http.ServeContent(w, r, path, time.Time{}, strings.NewReader(text))
}

var examplePages = func() map[string]string {
	pages := map[string]string{
		"/": `<title>Example</title><link rel=stylesheet href=/style.css><h1>Example</h1>
<a href=/about>About</a> <a href=/docs/>Docs</a> <a href=/news>News</a> <a href=/old>Old</a> <a href=/lost>Lost</a>
<a href=/private/notes>Notes</a> <a href=/manual.pdf>Manual</a> <a href=/print/about>Print</a>
<a href=https://elsewhere.example/>Elsewhere</a> <img src=/logo.png>`,
		"/style.css": `body { background: url(/background.png) }`,
		"/traps":     "<a href=/a/b/c/d>1</a> <a href=/x/x>2</a> <a href=/a-name-so-long-that-nobody-types-it>3</a> <a href=/list?page=1>4</a> <a href=/list?page=2>5</a>",
		"/cookie":    "<a href=/headers>Headers</a>",
		"/login":     "<title>Log in</title><form method=post action=/account><input name=user><input name=password type=password><button class=login>Log in</button></form>",
		"/account":   "<p class=account>Ada</p><a href=/headers>Headers</a> <a href=/logout>Log out</a>",

		"/app": "<!doctype html><title>App</title><div id=root></div><script>root.innerHTML = '<h1>Made by a script</h1><p>There is more to say.</p><a href=/about>About</a>'</script>",
	}
	for path, text := range map[string]string{
		"/about": "Who we are, and what we do all day.", "/print/about": "Who we are, and what we do all day.",
		"/docs/legacy": "What was so before.", "/hidden": "Nothing links here.", "/news": "All is as it was.", "/news/2": "Much is new.", "/search": "What was found.",
	} {
		pages[path] = "<title>Example page</title><p>" + text + strings.Repeat(" And so on.", 10)
	}
	index := new(strings.Builder)
	fmt.Fprint(index, "<title>Docs</title><a href=/>Home</a> <a href=legacy>Legacy</a>")
	for i := range 12 {
		path := fmt.Sprintf("/docs/%d", i+1)
		pages[path] = fmt.Sprintf("<title>Chapter %d</title><p>%s<a href=/docs/>Docs</a>", i+1, strings.Repeat(fmt.Sprintf("This is chapter %d. ", i+1), 8))
		fmt.Fprintf(index, " <a href=%s>%d</a>", path, i+1)
	}
	pages["/docs/"] = index.String()
	return pages
}()
