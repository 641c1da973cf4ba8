package mcp

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawls"
)

// Crawls starts crawls, and knows those that it has started.
type Crawls interface {
	Start(c Client, o Order) (name string, err error)
	Stop(c Client, name string) error
	List(c Client) []Crawl
	Sees(c Client, name string) bool        // whether the crawl is there for c
	Await(ctx context.Context, name string) // its end, or that of ctx
}

// Order is a crawl that a client asks for.
type Order struct {
	Seeds   []string
	Options map[string][]string // of weft crawl, by name, as typed
	Usual   int                 // URLs at most, unless the options or the client's limits say fewer
}

// Crawl is a crawl that was asked for.
type Crawl struct {
	Name, State, Message string
	Waits                string // words: the reason why a queued one does not run; "": unknown
	Ended                bool
}

// NewCrawls returns the crawls of a folder. Plan checks the options that a client asks for, and
// brings them within limits.
func NewCrawls(f *crawls.Folder, plan func(Client, map[string][]string) (map[string][]string, error)) Crawls {
	return &ofFolder{f, plan}
}

type ofFolder struct {
	folder *crawls.Folder
	plan   func(Client, map[string][]string) (map[string][]string, error)
}

func (f *ofFolder) Start(c Client, o Order) (string, error) {
	for _, seed := range o.Seeds {
		if _, err := weft.ReadListedSeed(seed); err != nil {
			return "", err
		}
	}
	options, err := f.plan(c, o.Options)
	if err != nil {
		return "", err
	}
	if has := options["limit"]; o.Usual > 0 {
		if n, err := strconv.Atoi(strings.Join(has, "")); err != nil || n < 1 || n > o.Usual {
			options["limit"] = []string{strconv.Itoa(o.Usual)}
		}
	}
	crawl, _, err := f.folder.Add(crawls.Ask{Seeds: o.Seeds, Options: options, By: c.Name})
	return crawl.Name, err
}

func (f *ofFolder) Sees(c Client, name string) bool {
	crawl, err := f.folder.Get(name)
	return err == nil && c.sees(&crawl)
}

func (c Client) sees(crawl *crawls.Crawl) bool { return c.Others || crawl.By == c.Name }

func (f *ofFolder) Stop(c Client, name string) error {
	err := crawls.ErrUnknown
	if f.Sees(c, name) {
		_, err = f.folder.Stop(name)
	}
	if errors.Is(err, crawls.ErrUnknown) {
		return wrong("crawl %.64q: there is none", name)
	}
	return err
}

func (f *ofFolder) List(client Client) (all []Crawl) {
	for _, c := range f.folder.List(client.sees) {
		one := Crawl{Name: c.Name, State: string(c.State), Message: c.Message, Ended: c.State.Ended()}
		if w := f.folder.Waits(&c); w != nil {
			if !f.Sees(client, w.Crawl) {
				w = w.Without()
			}
			one.Waits = w.String()
		}
		all = append(all, one)
	}
	return all
}

func (f *ofFolder) Await(ctx context.Context, name string) {
	_, _ = f.folder.Await(ctx, name, func(c *crawls.Crawl) bool { return c.State.Ended() }) // see List
}
