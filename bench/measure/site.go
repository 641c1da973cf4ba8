package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/lab"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// maxPage bounds a response while a site is explored, in bytes.
const maxPage = 16 << 20

// Site returns the first n pages of a site, or all: root (an http URL), and the pages it leads to
// on its host, nearest first, except what its robots.txt disallows for agent. It fetches them one
// by one.
func Site(ctx context.Context, root weburl.URL, n int, agent string) ([]string, error) {
	rules, err := rulesOf(ctx, root, agent)
	if err != nil {
		return nil, err
	}
	todo := []string{root.Canonical().String()}
	if !allowed(rules, todo[0]) {
		return nil, errors.New("its robots.txt disallows it")
	}
	for i := 0; i < len(todo) && len(todo) < n; i++ {
		page, err := get(ctx, todo[i])
		if err != nil {
			if i == 0 {
				return nil, err
			}
			continue
		}
		for _, next := range page.Next() {
			if len(todo) < n && !slices.Contains(todo, next) && allowed(rules, next) {
				todo = append(todo, next)
			}
		}
	}
	return todo, nil
}

// rulesOf reads the robots.txt of a site (RFC 9309, section 2.3.1: without a response nothing is
// allowed, without a file everything). The file may redirect to another host, also to https, so
// net/http fetches it.
func rulesOf(ctx context.Context, site weburl.URL, agent string) (robots.Rules, error) {
	client := http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
		Timeout:   30 * time.Second,
		CheckRedirect: func(_ *http.Request, before []*http.Request) error {
			if len(before) > 5 {
				return http.ErrUseLastResponse // as if there were no file
			}
			return nil
		},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, site.Origin()+"/robots.txt", nil)
	if err != nil {
		return robots.Rules{}, err
	}
	request.Header.Set("User-Agent", agent)
	response, err := client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the URL, which the caller names
		}
		return robots.Rules{}, fmt.Errorf("its robots.txt: %w", err)
	}
	defer response.Body.Close()
	var body []byte
	switch response.StatusCode / 100 {
	case 5:
		return robots.Rules{}, fmt.Errorf("its robots.txt: status %d", response.StatusCode)
	case 2:
		if body, err = io.ReadAll(io.LimitReader(response.Body, maxPage)); err != nil {
			return robots.Rules{}, fmt.Errorf("its robots.txt: %w", err)
		}
	}
	return robots.Parse(body).Agent(agent), nil
}

func allowed(rules robots.Rules, rawURL string) bool {
	u, err := weburl.Parse(rawURL)
	return err == nil && rules.Test(u.RequestTarget()).Allowed
}

// get fetches a page.
func get(ctx context.Context, rawURL string) (lab.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t, err := lab.ParseTarget(rawURL)
	if err != nil {
		return lab.Page{}, err
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", t.Host)
	if err != nil {
		return lab.Page{}, err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	_ = c.SetDeadline(deadline)
	if _, err := io.Copy(c, bytes.NewReader(t.Request)); err != nil {
		return lab.Page{}, err
	}
	response, err := io.ReadAll(io.LimitReader(c, maxPage+1)) // one more byte, to notice a longer one
	if err != nil {
		return lab.Page{}, err
	}
	page := lab.ParsePage(rawURL, response)
	return page, page.Err
}
