package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/weburl"
)

// localBase is the URL of a page that is read from a file.
const localBase = "http://localhost/"

// source is the input of a command: the argument FILE|URL names it.
type source struct {
	url         weburl.URL // after redirects; zero: it is a file
	status      int        // of the response
	header      httpclient.Header
	contentType string
	body        []byte
	rendered    *weft.Rendered // the body is its HTML; nil: the page was not rendered
}

// isRemote reports whether an argument is a URL rather than a file. Without a scheme it is a URL if
// there is no such file, and its host does not look like the name of one.
func isRemote(s string) bool {
	if hasScheme(s) {
		return true
	}
	bare, err := weft.ReadSeed(s)
	if err != nil || slices.Contains(fileTypes, filepath.Ext(bare.URL.Hostname())) {
		return false
	}
	_, err = os.Lstat(s)
	return err != nil
}

// fileTypes are the extensions of files that weft reads or writes; no domain ends so.
var fileTypes = []string{".atom", ".css", ".csv", ".gz", ".htm", ".html", ".js", ".json", ".jsonl", ".rss",
	".svg", ".txt", ".warc", ".xhtml", ".xml",
	".db", ".edgelist", ".edges", ".epub", ".graphml", ".markdown", ".ndjson", ".parquet", ".pdf", ".sqlite", ".sqlite3", ".wacz", ".xls", ".xlsx"}

// mistakenEnd reports whether the name of a file to write ends as files of other types do.
func mistakenEnd(path string, known ...string) bool {
	end := strings.ToLower(filepath.Ext(path))
	if slices.Contains(known, end) {
		return false
	}
	return slices.Contains(fileTypes, end) || end == ".md" // as a domain may, too
}

// hasScheme reports whether an argument is an http or https URL.
func hasScheme(s string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(s), "://")
	return scheme == "http" || scheme == "https"
}

// withScheme returns a URL of http or https with the scheme that it may lack, others as they are.
func withScheme(s string) string {
	if known, err := weft.ReadKnownSeed(s); err == nil && !hasScheme(s) {
		return known.URL.String()
	}
	return s
}

// read reads a file, standard input for "-", or a URL, within --max-body, or most bytes without it.
// Redirects are followed, at most as many as redirects. The status may be any.
func (c *clientFlags) read(command, arg string, most, redirects int) (source, error) {
	c.MaxBody = cmp.Or(c.MaxBody, most)
	if !isRemote(arg) {
		if flag := c.needsBrowser(); flag != "" {
			return source{}, usage("--%s: expected a URL: a file has no site to ask for what it needs", flag)
		}
		body, err := readFile(command, arg, c.MaxBody)
		return source{body: body}, err
	}
	if _, err := readSeed(arg); err != nil {
		return source{}, err
	}
	return c.fetch(arg, redirects, weft.Fetch)
}

// readPage is read for what has to be there: a status other than 2xx is an error.
func (c *clientFlags) readPage(command, arg string, most, redirects int) (source, error) {
	s, err := c.read(command, arg, most, redirects)
	if err == nil && isRemote(arg) && (s.status < 200 || s.status > 299) {
		advice := ""
		if s.status == http.StatusUnauthorized {
			advice = ": " + logsIn
		}
		err = &exit{exitError, fmt.Errorf("%s: status %d, expected 2xx%s", s.url, s.status, advice)}
	}
	return s, err
}

// fetch is read for a URL, which call requests.
func (c *clientFlags) fetch(
	url string, redirects int, call func(context.Context, string, weft.FetchOptions) (*weft.Page, error),
) (s source, err error) {
	err = c.send(redirects, func(ctx context.Context, o weft.FetchOptions) error {
		p, err := call(ctx, url, o)
		if err = cmp.Or(err, c.inTime(p)); err != nil {
			return err
		}
		s = source{status: p.Status, header: p.Header, contentType: p.Type(), body: p.Body}
		if p.Rendered != nil {
			s.body, s.contentType, s.rendered = p.Rendered.HTML, "text/html; charset=utf-8", p.Rendered
		}
		s.url, err = weburl.Parse(p.URL)
		return err
	})
	return s, err
}

// openFile opens a file, or standard input for "-". Expected says what else the argument of the
// command may be.
func openFile(command, path, expected string) (*os.File, error) {
	if path == "-" {
		return os.Stdin, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("%s: %.128q: %w, expected %s", command, path, reason(err), expected)
	}
	return f, nil
}

// The words for an argument that names a file.
const (
	fileOrInput = "a file or - for standard input"
	fileOrURL   = "a file, - for standard input, or a URL such as https://example.org/"
)

// readFile reads a file, or standard input for "-". More than most bytes are an error.
func readFile(command, path string, most int) ([]byte, error) {
	f, err := openFile(command, path, fileOrURL)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return nil, usage("%s: %.128q: %w, expected a file that can be read", command, path, reason(err))
	case len(b) > most:
		return nil, &exit{exitError, fmt.Errorf("%s: %.128q: larger than %s, see --max-body",
			command, path, plural(most, "byte"))}
	}
	return b, nil
}

// jsonlOption is --jsonl.
func jsonlOption(jsonl *bool) option {
	return option{name: "jsonl", Value: on(jsonl), help: "answer JSON questions, one per line"}
}

// orJSONL accepts what otherwise does; with --jsonl, one FILE or none.
func orJSONL(jsonl *bool, noun string, otherwise cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *jsonl {
			return arguments(0, 1, noun, "one FILE or none with --jsonl")(cmd, args)
		}
		return otherwise(cmd, args)
	}
}
