package scrape

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/share"
	"github.com/weftcrawl/weft/weburl"
)

// Options are the operator's. The zero value of each is its default.
type Options struct {
	// HTTP is the form of requests and their network. Credentials, cookies and sessions in it are
	// not used, and Distrust is set.
	HTTP weft.HTTP

	Render  bool   // callers may have pages rendered
	Browser string // name or path of Chromium; empty: the first that is found

	Fetches   int // at once; 0: 16
	PerSite   int // of these, at one registrable domain or address; 0: 2
	Renderers int // pages that are rendered at once; 0: 2
	Waiting   int // calls that wait for others; beyond them a call fails as KindBusy. 0: 1,000

	MaxBody int           // bytes of a page; an Ask may want less. 0: 16 MiB
	MaxMap  int           // bytes of a map; 0: 16 MiB
	MaxTime time.Duration // of a call; 0: 2 minutes
	Keep    int           // bytes of pages, and of maps, kept for MaxAge; 0: 32 MiB, negative: none
}

// Scraper fetches pages.
type Scraper struct {
	Options
	gate    *gate
	browser *share.Room // of pages that are rendered
	reading room        // of pages that are parsed
	kept    kept[*Result]
	maps    kept[*Map]
}

// New returns a Scraper.
func New(o Options) *Scraper {
	o.Fetches, o.PerSite, o.Renderers = cmp.Or(o.Fetches, 16), cmp.Or(o.PerSite, 2), cmp.Or(o.Renderers, 2)
	o.Waiting, o.MaxBody = cmp.Or(o.Waiting, 1000), cmp.Or(o.MaxBody, 16<<20)
	o.MaxTime, o.Keep = cmp.Or(o.MaxTime, 2*time.Minute), cmp.Or(o.Keep, 32<<20)
	o.HTTP.Distrust, o.HTTP.Session, o.HTTP.Auth, o.HTTP.Cookies = true, nil, nil, nil
	o.MaxMap = cmp.Or(o.MaxMap, 16<<20)
	return &Scraper{
		Options: o, gate: newGate(o.Fetches, o.PerSite, o.Waiting),
		browser: share.NewRoom(o.Renderers, 0), reading: make(room, runtime.GOMAXPROCS(0)),
		kept: kept[*Result]{most: o.Keep, all: make(map[string]*keptResult[*Result])},
		maps: kept[*Map]{most: o.Keep, all: make(map[string]*keptResult[*Map])},
	}
}

// target reads the URL of a caller.
func (s *Scraper) target(url string) (weft.Seed, *Error) {
	given, err := weft.ReadSeed(url)
	if err != nil {
		return given, &Error{Kind: KindMistake, URL: short(url), Detail: err.Error()}
	}
	if port := given.URL.EffectivePort(); guard.BlocksPort(port) && !s.HTTP.AllowPrivate {
		return given, &Error{Kind: KindBlocked, URL: given.URL.String(), Detail: "a port that is blocked, as in browsers"}
	}
	return given, nil
}

// within returns a context that ends with the time of a call, which is at most the operator's.
func (s *Scraper) within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if most <= 0 || most > s.MaxTime {
		most = s.MaxTime
	}
	return context.WithTimeout(ctx, most)
}

// fetch makes the requests of one URL when it is its turn.
func (s *Scraper) fetch(ctx context.Context, u weburl.URL, do func() error) *Error {
	leave, err := s.gate.enter(ctx, weburl.Site(u.Hostname()))
	if err == nil {
		err = do()
		leave()
	}
	return problemOf(u.String(), err)
}
