package render

import (
	"context"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// freshStart runs in each document before its own scripts. A page that is left has no say: what it
// would store or request then, the next page of its site would have. And it finds nothing that
// belongs to the tab: the way back in its history leads to the pages before.
const freshStart = `for (const way of ['back', 'forward', 'go']) History.prototype[way] = () => {}
Object.defineProperty(History.prototype, 'length', {get: () => 1})
if (self.Navigation) {
  const none = () => { const p = Promise.reject(new DOMException('no such entry', 'InvalidStateError')); p.catch(() => {}); return {committed: p, finished: p} }
  for (const way of ['back', 'forward', 'traverseTo']) Navigation.prototype[way] = none
  for (const way of ['canGoBack', 'canGoForward']) Object.defineProperty(Navigation.prototype, way, {get: () => false})
  Navigation.prototype.entries = function () { return this.currentEntry ? [this.currentEntry] : [] }
}
for (const type of ['pageswap', 'pagehide', 'unload', 'beforeunload', 'visibilitychange']) addEventListener(type, e => e.stopImmediatePropagation(), true)
delete self.fetchLater
if (window === top) try { window.name = ''; if (sessionStorage.length) sessionStorage.clear() } catch {}`

// stored lists the stores of a page, cookies apart.
const stored = "local_storage,indexeddb,cache_storage,service_workers,file_systems"

// mostOrigins bounds the origins that are cleaned up after in the full browser. A page has fewer,
// by its limit of requests.
const mostOrigins = 1000

// open makes a tab. Each has a context of its own, so that pages of one site that are rendered at
// the same time share nothing. Not so in the full browser, where a context is a window, which is
// drawn all the time.
func (b *browser) open(ctx context.Context) (*tab, error) { return b.openWith(ctx, freshStart) }

// openWith is open with a script that runs in each document.
func (b *browser) openWith(ctx context.Context, script string) (*tab, error) {
	t := &tab{conn: b.conn, inFront: b.shell, origins: make(map[string]bool)}
	var made struct {
		BrowserContextID, TargetID, SessionID string
	}
	params := map[string]any{"url": "about:blank"}
	if b.shell {
		if err := b.conn.call(ctx, "", "Target.createBrowserContext", nil, &made); err != nil {
			return nil, err
		}
		t.context = made.BrowserContextID
		params["browserContextId"] = t.context
		if err := b.denyDownloads(ctx, t.context); err != nil {
			return nil, err
		}
	}
	if err := b.conn.call(ctx, "", "Target.createTarget", params, &made); err != nil {
		return nil, err
	}
	t.target = made.TargetID
	attach := map[string]any{"targetId": made.TargetID, "flatten": true}
	if err := b.conn.call(ctx, "", "Target.attachToTarget", attach, &made); err != nil {
		return nil, err
	}
	t.session = made.SessionID
	b.mu.Lock()
	b.tabs[t.session], b.in[t.target] = t, t
	if t.context == "" {
		t.stale, b.stale = b.stale, nil
	}
	b.mu.Unlock()
	for _, c := range []struct {
		method string
		params any
	}{
		// To workers: see mayServe.
		{"Target.setAutoAttach", map[string]bool{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}},
		{"Page.enable", nil}, {"Inspector.enable", nil}, {"Runtime.enable", nil}, {"Log.enable", nil},
		{"Page.addScriptToEvaluateOnNewDocument", map[string]string{"source": script}},
		{"Emulation.setDeviceMetricsOverride", map[string]any{"width": viewportWidth, "height": viewportHeight, "deviceScaleFactor": 1, "mobile": false}},
	} {
		if err := b.conn.call(ctx, t.session, c.method, c.params, nil); err != nil {
			b.drop(t)
			return nil, err
		}
	}
	return t, nil
}

// denyDownloads has a browser context, "" for the default one, make no file of what a page would
// have a person download, but say which URL it is.
func (b *browser) denyDownloads(ctx context.Context, id string) error {
	params := map[string]any{"behavior": "deny", "eventsEnabled": true}
	if id != "" {
		params["browserContextId"] = id
	}
	return b.conn.call(ctx, "", "Browser.setDownloadBehavior", params, nil)
}

// drop closes a tab that is lost, or may hang.
func (b *browser) drop(t *tab) {
	b.mu.Lock()
	delete(b.tabs, t.session)
	delete(b.in, t.target)
	if t.context == "" {
		b.stale = append(b.stale, t.leftKeys()...)
	}
	b.mu.Unlock()
	defer b.conn.leave(t.session)
	// A renderer that hangs ends at once: this is for its thread of messages.
	_ = b.conn.post(t.session, "Page.crash", nil)
	_ = b.conn.post("", "Target.closeTarget", map[string]string{"targetId": t.target})
	if t.context != "" {
		_ = b.conn.post("", "Target.disposeBrowserContext", map[string]string{"browserContextId": t.context})
	}
}

// visit notes the origin of a document that is shown, in the tab or in a frame of it.
func (t *tab) visit(origin string, inFrame bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !strings.HasPrefix(origin, "http") || len(t.origins) >= mostOrigins {
		return
	}
	if !inFrame {
		t.top = origin
	}
	t.origins[origin] = true
}

// clean removes what the page before has stored, but for cookies (see setCookies), so that a page
// is the same whether it is the first of a tab or the thousandth: all that the tab's own context
// has, or, of a shared one, what documents of the tab may have stored there.
func (t *tab) clean(ctx context.Context) error {
	keys := t.leftKeys()
	if t.context != "" && len(keys) > 0 {
		return t.conn.call(ctx, t.session, "Storage.clearDataForOrigin", map[string]string{"origin": "*", "storageTypes": stored}, nil)
	}
	for _, key := range keys {
		if err := t.conn.call(ctx, t.session, "Storage.clearDataForStorageKey", map[string]string{"storageKey": key, "storageTypes": stored}, nil); err != nil {
			return err
		}
	}
	return nil
}

// leftKeys returns the keys of stores that the tab has to clear, once.
func (t *tab) leftKeys() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	keys := append(t.stale, storageKeys(t.top, t.origins)...)
	t.stale, t.origins = nil, make(map[string]bool)
	return keys
}

// storageKeys returns the keys of the stores of documents within a page, as Chromium writes them
// (third_party/blink/common/storage_key). A frame of another site has others in each site; one of
// the page's own site, in a frame of another.
func storageKeys(top string, origins map[string]bool) (keys []string) {
	site := siteOf(top)
	for origin := range origins {
		if siteOf(origin) != site {
			keys = append(keys, origin+"/^0"+site)
			continue
		}
		keys = append(keys, origin+"/", origin+"/^31")
	}
	return keys
}

// siteOf returns the scheme and the registrable domain of an origin.
func siteOf(origin string) string {
	u, err := weburl.Parse(origin)
	if err != nil {
		return origin
	}
	return u.Scheme() + "://" + weburl.Site(u.Hostname())
}

// focus has the tab drawn although another is in front of it. That costs a third more CPU time.
func (t *tab) focus(ctx context.Context, on bool) error {
	if t.inFront || on == t.focused {
		return nil
	}
	t.focused = on
	return t.conn.call(ctx, t.session, "Emulation.setFocusEmulationEnabled", map[string]bool{"enabled": on}, nil)
}
