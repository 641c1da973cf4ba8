package weft_test

import (
	"errors"
	"io"
	"iter"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
)

// TestOptionError checks that an error of New names the option, its value and what was expected.
func TestOptionError(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	expect := func(name string, change func(o *weft.Options), want string) {
		t.Run(name, func(t *testing.T) {
			o := weft.Options{Seeds: []string{"http://a.test/"}}
			change(&o)
			_, err := weft.New(o)
			var of *weft.OptionError
			if !errors.As(err, &of) {
				t.Fatalf("%v, expected an OptionError", err)
			}
			if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "option "+of.Option) {
				t.Errorf("%v, expected %s", err, want)
			}
		})
	}
	expect("no seed", func(o *weft.Options) { o.Seeds = nil }, "option Seeds: none, expected a URL")
	expect("bad seed", func(o *weft.Options) { o.Seeds[0] = "//a.test" }, `option Seeds: URL "//a.test": no scheme`)
	expect("scope", func(o *weft.Options) { o.Scope = "site" }, "option Scope: ")
	expect("fields", func(o *weft.Options) { o.Fields = []string{"ulr"} }, "option Fields: ")
	expect("format", func(o *weft.Options) { o.Format = "xml" }, "option Format: ")
	expect("concurrency", func(o *weft.Options) { o.Concurrency = -1 }, `option Concurrency "-1": expected more than 0, or 0 for the default`)
	expect("too much concurrency", func(o *weft.Options) { o.Concurrency = 1 << 30 }, `option Concurrency "1073741824": expected at most `)
	expect("body", func(o *weft.Options) { o.MaxBody = -1 }, `option MaxBody "-1": expected`)
	expect("URL", func(o *weft.Options) { o.MaxURLLength = 20_000 }, `option MaxURLLength "20000": expected at most 16384`)
	expect("rate", func(o *weft.Options) { o.RateLimit = math.NaN() }, `option RateLimit "NaN": expected`)
	expect("time", func(o *weft.Options) { o.IdleTimeout = -1 }, `option IdleTimeout "-1ns": expected`)
	expect("agent", func(o *weft.Options) { o.UserAgent = "a\nb" }, "option UserAgent: field User-Agent: ")
	expect("header", func(o *weft.Options) { o.Header = httpclient.Header{{Name: "a b", Value: "c"}} }, `option Header: field "a b": expected`)
	expect("name server", func(o *weft.Options) { o.DNS = []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:0")} }, `option DNS "192.0.2.1:0": expected an address and a port`)
	expect("links without a job", func(o *weft.Options) { o.KeepLinks = true }, "option Job: none, expected a folder")
	expect("job in a file", func(o *weft.Options) { o.Job = filepath.Join(file, "job") }, "not a directory, expected a new folder")
	expect("job name", func(o *weft.Options) { o.Job = filepath.Join(dir, strings.Repeat("a", 300)) }, "file name too long, expected a new folder")

	_, err := weft.New(weft.Options{Seeds: []string{"http://a.test/"}, Job: dir})
	if !errors.Is(err, weft.ErrJobExists) {
		t.Errorf("existing folder: %v, expected ErrJobExists", err)
	}
}

// TestSeedSeqError checks that Run returns an error of the seed sequence.
func TestSeedSeqError(t *testing.T) {
	list := func(s string, err error) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) { yield(s, err) }
	}
	for want, seq := range map[string]iter.Seq2[string, error]{
		"option SeedSeq: unexpected EOF":               list("", io.ErrUnexpectedEOF),
		`option SeedSeq: URL "intranet": no scheme, e`: list("intranet", nil),
	} {
		c, err := weft.New(weft.Options{SeedSeq: seq})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}
