package served

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/mounts"
)

// TestFullDisk: on a full disk a crawl is refused, and leaves nothing; one that runs waits, and
// goes on when there is room.
func TestFullDisk(t *testing.T) {
	if !mounts.Inside(t) {
		return
	}
	disk := t.TempDir()
	mounts.Small(t, disk, "4m")
	full := func() {
		f, err := os.Create(filepath.Join(disk, "other"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for part := make([]byte, 64<<10); len(part) > 0; {
			if _, err := f.Write(part); err != nil {
				part = part[:len(part)/2]
			}
		}
	}
	room := func() {
		if err := os.Remove(filepath.Join(disk, "other")); err != nil {
			t.Fatal(err)
		}
	}
	web, asked := site(t, 30)
	fifth, on := make(chan struct{}), make(chan struct{})
	handler := web.Config.Handler
	web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/5" {
			close(fifth)
			<-on
		}
		handler.ServeHTTP(w, r)
	})
	dir := filepath.Join(disk, "crawls")
	s := serve(t, dir, "--allow-private")
	body := map[string]any{"urls": []string{web.URL + "/"}, "options": map[string]any{"warc": true}}

	full()
	if status, text := s.ask("POST", "/v1/crawls", body, nil); status != http.StatusInsufficientStorage || !strings.Contains(text, "full") {
		t.Errorf("%d: %s", status, text)
	}
	room()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v: expected the lock alone", files, err)
	}

	c := s.start(body)
	<-fifth
	full()
	close(on)
	for {
		var now struct {
			State  string
			Status struct{ Reasons []string }
		}
		_, text := s.ask("GET", "/v1/crawls/"+c.ID, nil, &now)
		if now.State != "running" {
			t.Fatalf("on a full disk: %s", text)
		}
		if slices.Contains(now.Status.Reasons, "the disk is full") {
			break
		}
	}
	room()
	if c = s.until(c.ID); c.State != "done" || c.Status.Pages != 31 {
		log, _ := os.ReadFile(filepath.Join(dir, c.ID+".log"))
		t.Errorf("%+v\n%s", c, log)
	}
	for path, times := range asked() {
		if times > 1 && path != "/robots.txt" {
			t.Errorf("%s was requested %d times", path, times)
		}
	}
}
