package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/loopback"
	"github.com/weftcrawl/weft/internal/scrape"
)

// TestLongAnswers: an answer that somebody reads goes on beyond the time of a request, and ends
// once nobody reads it.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	folder, err := crawls.Open(t.TempDir(), crawls.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	tokens, err := OpenTokens(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Crawls: folder, Tokens: tokens, Scraper: scrape.New(scrape.Options{})})
	s.takes = times{100 * time.Millisecond, 500 * time.Millisecond}
	ended := make(chan error, 1)
	const parts, part = 20, 32 << 10
	s.mux.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		var err error
		for i := 0; i < parts && err == nil; i++ {
			_, err = w.Write(make([]byte, part))
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
			pause, end := context.WithTimeout(r.Context(), 25*time.Millisecond)
			<-pause.Done()
			end()
			if r.Context().Err() != nil {
				err = r.Context().Err()
			}
		}
		ended <- err
	})
	s.mux.HandleFunc("GET /stalled", func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for i := 0; i < 10_000 && err == nil; i++ {
			_, err = w.Write(make([]byte, part))
		}
		ended <- err
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- loopback.Serve(ctx, listener, s, newDoor(8).guard) }()
	defer func() { cancel(); <-done }()

	resp, err := http.Get("http://" + listener.Addr().String() + "/slow")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if cut := <-ended; n != parts*part || err != nil || cut != nil {
		t.Errorf("%d bytes, %v, cut %v", n, err, cut)
	}

	late, end := context.WithTimeout(t.Context(), 20*time.Second)
	defer end()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /stalled HTTP/1.1\r\nHost: localhost\r\n\r\n")
	select {
	case err := <-ended:
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Error(err)
		}
	case <-late.Done():
		t.Error("a reader that reads nothing holds its connection")
	}
}
