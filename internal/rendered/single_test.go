package rendered_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestSinglePage: a page that is fetched by itself has at most six requests under way at a host,
// and does not wait for what the server leaves open when it is done.
func TestSinglePage(t *testing.T) {
	t.Parallel()
	const scripts = 30
	var mu sync.Mutex
	under, most := 0, 0
	six := make(chan struct{}) // closed when as many are under way
	left := make(chan struct{})
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<p id=p>text")
			for i := range scripts {
				fmt.Fprintf(w, "<script async src=/js?%d></script>", i)
			}
			fmt.Fprint(w, "<script>onload = () => fetch('/poll')</script>")
		case "/poll":
			<-r.Context().Done()
			close(left)
		default:
			mu.Lock()
			under++
			if most = max(most, under); under == 6 {
				select {
				case <-six:
				default:
					close(six)
				}
			}
			mu.Unlock()
			<-six
			stays, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond)
			<-stays.Done() // a seventh may come
			cancel()
			mu.Lock()
			under--
			mu.Unlock()
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o := weft.FetchOptions{HTTP: weft.HTTP{Timeout: time.Hour, FirstByteTimeout: time.Hour}, Render: weft.Render{Rendering: weft.RenderAlways}}
	p, err := weft.Fetch(ctx, s.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	<-left
	if most != 6 || p.Rendered.Requests != scripts+1 {
		t.Errorf("%d under way at most, %+v", most, p.Rendered)
	}
}

// TestSinglePolls: what a page needs does not wait for its turn at a host behind as many long polls
// as there may be requests.
func TestSinglePolls(t *testing.T) {
	t.Parallel()
	polls := make(chan bool, 6)
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<script async src=/late.js></script><p><script>for (let i = 0; i < 6; i++) fetch('/poll?' + i)</script>")
		case "/late.js": // when there is a turn for the last poll alone
			for range cap(polls) - 1 {
				<-polls
			}
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, "fetch('/data').then(r => r.text()).then(text => document.title = text)")
		case "/data":
			fmt.Fprint(w, "seventh")
		default:
			polls <- true
			<-r.Context().Done()
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	o := weft.FetchOptions{HTTP: weft.HTTP{Timeout: time.Hour, FirstByteTimeout: time.Hour}, Render: weft.Render{Rendering: weft.RenderAlways}}
	p, err := weft.Fetch(ctx, s.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(p.Rendered.HTML), "<title>seventh<") || len(p.Rendered.Refused) != 6 {
		t.Errorf("%s, %+v", p.Rendered.HTML, p.Rendered.Refused)
	}
}
