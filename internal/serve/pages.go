package serve

import (
	"context"
	"embed"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/live"
	"github.com/weftcrawl/weft/internal/share"
)

//go:embed page
var files embed.FS

// own serves a file of the page of all crawls.
func own(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		live.Secure(w)
		http.ServeFileFS(w, r, files, "page/"+name)
	}
}

// pages are the pages of crawls, made when they are first asked for.
type pages struct {
	folder  *crawls.Folder
	tokens  *Tokens
	reading *share.Room
	viewers *share.Stock

	mu  sync.Mutex
	all map[string]*live.Server
}

// mostViewers bounds the viewers of all crawls together: each holds a connection.
const mostViewers = 1000

func newPages(f *crawls.Folder, t *Tokens, reading *share.Room) *pages {
	return &pages{folder: f, tokens: t, reading: reading, viewers: share.NewStock(mostViewers, 0), all: make(map[string]*live.Server)}
}

// mostPages bounds the pages that are kept: each is made again in no time.
const mostPages = 256

// page returns the page of a crawl.
func (p *pages) page(name string) *live.Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[name] == nil {
		if len(p.all) == mostPages {
			clear(p.all) // whoever looks at one keeps it
		}
		p.all[name] = live.NewIn(p.reading, p.folder.Job(name), filepath.Base(p.folder.Job(name)))
	}
	return p.all[name]
}

// serve shows a crawl in a browser.
func (p *pages) serve(w http.ResponseWriter, r *http.Request) {
	name, right := r.PathValue("id"), Read
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		right = Write
	}
	if err := may(r.Context(), right); err != nil {
		fail(w, http.StatusForbidden, err.Error())
		return
	}
	c, err := find(r.Context(), p.folder, name)
	if err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	if r.PathValue("path") == live.Looks {
		leave, err := p.viewers.Take(r.Context(), 1)
		if err != nil {
			fail(w, http.StatusServiceUnavailable, "too many are looking already")
			return
		}
		defer leave()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go p.watch(ctx, cancel, &c)
		r = r.WithContext(ctx)
	}
	ctx := live.Allowing(r.Context(), func(words []string) error { return who(r.Context()).allow(&c, words) })
	p.page(name).Answer(w, r.WithContext(ctx), r.PathValue("path"))
}

// watchEvery is the time between two looks at the token of a viewer.
const watchEvery = 2 * time.Second

// watch ends what a viewer sees of a crawl once his token is removed.
func (p *pages) watch(ctx context.Context, cancel func(), c *crawls.Crawl) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for p.tokens.holds(who(ctx), c) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	cancel()
}

// index serves the page of all crawls and its files.
func index(mux *http.ServeMux) {
	all := map[string]func(http.ResponseWriter, *http.Request){
		"/{$}": own("index.html"), "/page/serve.js": own("serve.js"),
		"/page/text.js": live.File("text.js"), "/page/live.css": live.File("live.css"), "/page/icon.svg": live.File("icon.svg"),
	}
	for path, serve := range all {
		mux.HandleFunc("GET "+path, serve)
	}
}
