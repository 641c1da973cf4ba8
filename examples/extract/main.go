// Command extract crawls shops and prints their products as lines of JSON. It reads the microdata
// of a page, https://schema.org/Product, so it works for many shops. Without URLs it crawls a shop
// of its own.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

//go:embed site
var site embed.FS

func main() {
	flag.Parse()
	o := weft.Options{Seeds: flag.Args()}
	if len(o.Seeds) == 0 {
		server := httptest.NewServer(http.FileServerFS(site))
		defer server.Close()
		there, err := httpclient.ParseOverride("shop.example:80:" + server.Listener.Addr().String())
		if err != nil {
			log.Fatal(err)
		}
		// The name does not exist: the override leads it to the server.
		o.Seeds, o.HTTP.Resolve = []string{"http://shop.example/site/"}, []httpclient.Override{there}
	}
	if err := extract(o); err != nil {
		log.Fatal(err)
	}
}

// product is a line of the output.
type product struct {
	URL      string `json:"url"`
	Name     string `json:"name"`
	Price    string `json:"price"`
	Currency string `json:"currency,omitempty"`
}

func extract(o weft.Options) error {
	// Several loops call OnLink at once, for each link, and wait for it: it must be quick. This one
	// drops links to shopping baskets.
	o.Hooks.OnLink = func(_ weburl.URL, link links.Link) weft.Verdict {
		if strings.Contains(link.URL.Path(), "/basket") {
			return weft.Verdict{Decision: weft.Drop, Reason: "basket"}
		}
		return weft.Verdict{} // let the scope decide
	}

	// OnPage may take its time: each page has a goroutine. So a lock guards what they share, such
	// as the output. An error of OnPage ends the crawl.
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	o.Hooks.OnPage = func(_ context.Context, page *weft.Page) error {
		products, err := productsOf(page)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, p := range products {
			if err := out.Encode(p); err != nil {
				return err
			}
		}
		return nil
	}

	crawler, err := weft.New(o)
	if err != nil {
		return err
	}
	summary, err := crawler.Run(context.Background())
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d pages, links not followed: %v\n", summary.Pages, summary.NotFollowed)
	return nil
}

// productsOf returns the products on a page: none, one, or a list.
func productsOf(page *weft.Page) ([]product, error) {
	if page.Status != http.StatusOK { // OnPage also gets error pages such as "not found"
		return nil, nil
	}
	doc, err := page.Document() // goquery's, with CSS selectors
	if err != nil {
		return nil, err
	}
	var products []product
	for _, item := range doc.Find(`[itemtype$="//schema.org/Product"]`).EachIter() {
		value := func(name string) string {
			found := item.Find("[itemprop=" + name + "]").First()
			// The content attribute, if there is one, has the machine-readable value.
			return strings.TrimSpace(found.AttrOr("content", found.Text()))
		}
		products = append(products, product{page.URL, value("name"), value("price"), value("priceCurrency")})
	}
	return products, nil
}
