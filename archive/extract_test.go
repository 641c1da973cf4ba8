package archive_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/warc"
)

// TestExtractor: bodies become files, those that the options say and as many bytes as they allow;
// what cannot be decoded is handed on.
func TestExtractor(t *testing.T) {
	var text []byte
	e := warc.NewEncoder(warc.Options{})
	for i, one := range []string{"200 OK\r\n\r\npage", "404 Not Found\r\n\r\nlost", "200 OK\r\nContent-Encoding: exi\r\n\r\nodd"} {
		text, _ = e.Exchange(text, &warc.Exchange{URL: fmt.Sprint("https://a.test/", i), Date: time.Unix(int64(i), 0), Response: []byte("HTTP/1.1 " + one)})
	}
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options archive.ExtractOptions
		want    []string
		damage  int
		most    int64 // of a *TooMuchError
	}{
		"default":   {archive.ExtractOptions{}, []string{"a.test/0: page", "a.test/2: odd"}, 1, 0},
		"all":       {archive.ExtractOptions{All: true}, []string{"a.test/0: page", "a.test/1: lost", "a.test/2: odd"}, 1, 0},
		"raw":       {archive.ExtractOptions{Raw: true}, []string{"a.test/0: page", "a.test/2: odd"}, 0, 0},
		"of a URL":  {archive.ExtractOptions{URL: "HTTPS://A.test:443/1"}, []string{"a.test/1: lost"}, 0, 0},
		"too large": {archive.ExtractOptions{MaxSize: 6}, []string{"a.test/0: page"}, 0, 6},
	} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		damage := 0
		c.options.Written = func(name, url string) {
			b, _ := root.ReadFile(name)
			got = append(got, fmt.Sprintf("%s: %s", name, b))
		}
		c.options.Damage = func(*warc.DamageError) { damage++ }
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		err = archive.NewExtractor(root, c.options).File(file)
		file.Close()
		root.Close()
		var long *archive.TooMuchError
		if errors.As(err, &long) != (c.most > 0) || long != nil && long.Most != c.most || long == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(got, c.want) || damage != c.damage {
			t.Errorf("%s: %q, %d damaged", name, got, damage)
		}
	}
}
