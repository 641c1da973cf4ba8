// Chromedp crawls a site with chromedp: a tab for each page, of one browser.
//
//	chromedp START OUT BROWSER
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// tabs is the number of pages that are open at a time.
const tabs = 4

type found struct {
	URL   string   `json:"url"`
	Title string   `json:"title"`
	Text  string   `json:"text"`
	Links []string `json:"links"`
}

const read = `({title: document.title, text: document.body.innerText, links: [...document.querySelectorAll("a[href]")].map(a => a.href)})`

func main() {
	if err := crawl(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func crawl(start, out, browser string) error {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Run(ctx); err != nil {
		return err
	}
	var (
		pages = make(chan found)
		free  = make(chan struct{}, tabs)
		wait  sync.WaitGroup
		seen  = map[string]bool{start: true}
		queue = []string{start}
	)
	for open := 0; len(queue) > 0 || open > 0; {
		var next chan<- struct{}
		if len(queue) > 0 {
			next = free
		}
		select {
		case next <- struct{}{}:
			link := queue[0]
			queue = queue[1:]
			open++
			wait.Go(func() {
				p, err := visit(ctx, link)
				if err != nil {
					fmt.Fprintf(os.Stderr, "%s: %v\n", link, err)
				}
				<-free
				pages <- p
			})
		case p := <-pages:
			open--
			if p.URL == "" {
				continue
			}
			if err := json.NewEncoder(file).Encode(p); err != nil {
				return err
			}
			for _, link := range p.Links {
				if link = known(start, link); link != "" && !seen[link] {
					seen[link] = true
					queue = append(queue, link)
				}
			}
		}
	}
	wait.Wait()
	return nil
}

// visit reads a page in a tab of its own, when its network is idle.
func visit(ctx context.Context, link string) (p found, err error) {
	ctx, cancel := chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	idle := make(chan cdp.LoaderID, 64) // more than a page loads documents
	var loader cdp.LoaderID
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*page.EventLifecycleEvent); ok && e.Name == "networkIdle" {
			select {
			case idle <- e.LoaderID:
			default:
			}
		}
	})
	err = chromedp.Run(ctx, page.SetLifecycleEventsEnabled(true),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, id, _, _, err := page.Navigate(link).Do(ctx)
			loader = id
			return err
		}),
		chromedp.ActionFunc(func(ctx context.Context) error {
			for {
				select {
				case id := <-idle:
					if id == loader {
						return nil
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}),
		chromedp.Evaluate(read, &p))
	p.URL = link
	if err != nil {
		return found{}, err
	}
	return p, nil
}

// known returns the URL by which a page is known; empty: it is of another site.
func known(start, link string) string {
	u, err := url.Parse(link)
	s, _ := url.Parse(start)
	if err != nil || u.Host != s.Host {
		return ""
	}
	u.Fragment = ""
	return u.String()
}
