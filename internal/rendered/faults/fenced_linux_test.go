package faults_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/mounts"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestCrawlFenced: no way that a page has leads to a private address that the crawl was not given,
// to a file, or to a page of the browser. The network is the test's own: 10.9.9.9 and hidden.test,
// which is a name for it, are its machine, too.
func TestCrawlFenced(t *testing.T) {
	t.Parallel()
	wefttest.Shows(t, nil)
	hosts := `printf '127.0.0.1 localhost\n10.9.9.9 hidden.test\n' >"$TMPDIR/hosts" && mount --bind "$TMPDIR/hosts" /etc/hosts`
	if !mounts.Alone(t, "ip link set lo up && ip addr add 10.9.9.9/32 dev lo && "+hosts, "--net", "--mount") {
		return
	}
	heard := listen(t, "10.9.9.9:80")
	s := wefttest.Shows(t, nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, waysOut)
		case "/sw.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, "fetch('http://10.9.9.9/from-service-worker'); importScripts('http://10.9.9.9/imported-by-service-worker')")
		case "/302":
			http.Redirect(w, r, "http://10.9.9.9/redirected", http.StatusFound)
		case "/meta":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<meta http-equiv=refresh content='0;url=http://hidden.test/refreshed'><p>x")
		default:
			http.NotFound(w, r)
		}
	})
	for _, browser := range []string{"chromium-headless-shell", "chromium"} {
		e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--assets", "any", "--bodies", "--browser", browser, "--job", "job", s.URL)
		if all := heard(); len(all) != 1 { // the test itself
			t.Errorf("reached: %q", all)
		}
		r := s.Records(t, filepath.Join(e.Dir, "job"))["/"]
		if r == nil || r.Rendered == nil || r.Rendered.Error != "" {
			t.Fatalf("%+v", r)
		}
		refused := strings.Join(append(r.Rendered.Refused, r.Rendered.Failed...), "\n")
		if !strings.Contains(refused, "http://10.9.9.9/") {
			t.Errorf("refused: %s", refused)
		}
		if text := wefttest.In(t, e.Dir, "read", "job", "-o", "-").Stdout; strings.Contains(text, "root:") {
			t.Errorf("a file was read: %s", text)
		}
	}
}

// listen returns what reaches an address.
func listen(t *testing.T, address string) (heard func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, what)
	}
	go func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			first := make([]byte, 200)
			n, _ := c.Read(first)
			note(string(first[:n]))
			c.Close()
		}
	}()
	go func() {
		for b := make([]byte, 2000); ; {
			n, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			note(fmt.Sprint(n, " bytes from ", from))
		}
	}()
	t.Cleanup(func() {
		tcp.Close()
		udp.Close()
	})
	// The listener itself works.
	if c, err := new(net.Dialer).DialContext(context.Background(), "tcp", address); err != nil {
		t.Fatal(err)
	} else {
		fmt.Fprint(c, "hello")
		c.Close()
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// waysOut is a page that tries to reach 10.9.9.9 and hidden.test in every way that a page has.
const waysOut = `<!doctype html><title>ways out</title><link rel=preconnect href=http://10.9.9.9><link rel=prefetch href=http://10.9.9.9/prefetch><link rel=preload as=image href=http://10.9.9.9/preload><link rel=modulepreload href=http://10.9.9.9/module.js>
<img src=http://10.9.9.9/img><img src=/302><iframe src=/302></iframe><iframe src=/meta></iframe><iframe src=http://hidden.test/frame></iframe><iframe src=file:///etc/passwd></iframe><iframe src=chrome://version></iframe><iframe src=devtools://devtools/bundled/inspector.html></iframe>
<a href=file:///etc/passwd>file</a><a href=chrome://settings>chrome</a><a href=http://10.9.9.9/link>link</a><a href=/302>302</a><a href=/meta>meta</a><form id=f method=post action=http://10.9.9.9/post target=_blank><input name=x></form><p>text<script>
const go = f => { try { f() } catch (e) {} }
for (const to of ['10.9.9.9', 'hidden.test', '[::ffff:10.9.9.9]', '0xa090909']) {
  go(() => fetch('http://' + to + '/fetch', {mode: 'no-cors'}).catch(() => 0))
  go(() => fetch('http://' + to + '/keepalive', {method: 'POST', body: 'x', keepalive: true, mode: 'no-cors'}).catch(() => 0))
  go(() => { const x = new XMLHttpRequest; x.open('GET', 'http://' + to + '/xhr'); x.send() })
  go(() => new WebSocket('ws://' + to + '/ws'))
  go(() => new EventSource('http://' + to + '/events'))
  go(() => navigator.sendBeacon('http://' + to + '/beacon', 'x'))
  go(() => open('http://' + to + '/open'))
  go(() => new WebTransport('https://' + to + '/quic'))
  go(() => { const c = new RTCPeerConnection({iceServers: [{urls: 'stun:' + to + ':80'}, {urls: 'turn:' + to + ':80', username: 'x', credential: 'y'}]}); c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) })
  go(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://" + to + "/worker'); importScripts('http://" + to + "/import.js')"]))))
  go(() => new SharedWorker(URL.createObjectURL(new Blob(["fetch('http://" + to + "/shared')"]))))
}
go(() => navigator.serviceWorker.register('/sw.js')); go(() => f.submit()); go(() => fetch('/302').catch(() => 0)); go(() => fetch('file:///etc/passwd').then(r => r.text()).then(t => document.body.append(t)))
setTimeout(() => { location = 'http://10.9.9.9/location' }, 200); setTimeout(() => { location = 'file:///etc/passwd' }, 400); setTimeout(() => { location = 'chrome://settings' }, 500)
addEventListener('pagehide', () => navigator.sendBeacon('http://10.9.9.9/bye', 'x'))
</script>`
