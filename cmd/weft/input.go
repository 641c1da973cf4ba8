package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/weftcrawl/weft"
)

// maxLine bounds a line of a list of seeds, in bytes.
const maxLine = 1 << 20

// mostSkipped is the number of lines that are not URLs and are reported one by one.
const mostSkipped = 10

// list is a file of URLs, one per line, read while the crawl runs. Empty lines and lines that start
// with '#' are skipped, and so are lines that are not URLs, with a warning, unless it is strict.
type list struct {
	name    string
	file    io.ReadCloser
	lines   *bufio.Reader
	line    int    // number of the last line read
	first   string // its first URL, read ahead
	strict  bool
	skipped int // lines that are not URLs
	warn    func(string)
}

// badLine is a line that is not a URL.
type badLine struct{ error }

// openList opens a list and reads its first URL. It is an error if there is none.
func openList(path string, strict bool, warn func(string)) (*list, error) {
	l := &list{name: path, file: os.Stdin, strict: strict, warn: warn}
	if path == "-" {
		l.name = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, misused("input", path,
				fmt.Errorf("%w, expected a file of URLs or - for standard input", reason(err)))
		}
		l.file = f
	}
	l.lines = bufio.NewReaderSize(l.file, maxLine)
	if err := l.readFirst(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// readFirst reads the first URL.
func (l *list) readFirst() (err error) {
	l.first, err = l.nextURL()
	var bad *badLine
	switch {
	case errors.As(err, &bad):
		return usage("--input: %w", err)
	case errors.Is(err, io.EOF):
		return usage("--input %s: no URL in it, expected one per line, such as https://example.org/", l.name)
	case err != nil:
		return usage("--input %s: %w, expected a file of URLs", l.name, reason(err))
	}
	return nil
}

// Close closes the file: a read in progress fails.
func (l *list) Close() { _ = l.file.Close() }

// urls yields the URLs. An error ends the list.
func (l *list) urls(yield func(string, error) bool) {
	for s := l.first; yield(s, nil); {
		var err error
		s, err = l.nextURL()
		var bad *badLine
		switch {
		case errors.Is(err, io.EOF):
			if more := l.skipped - mostSkipped; more > 0 {
				l.warn(fmt.Sprintf("%s: %s more skipped", l.name, plural(more, "line")))
			}
			return
		case errors.As(err, &bad):
			yield("", err)
			return
		case err != nil:
			yield("", fmt.Errorf("%s: %w", l.name, reason(err)))
			return
		}
	}
}

// nextURL returns the next URL. The error is a *badLine if the list is strict, io.EOF, or one of
// the file.
func (l *list) nextURL() (string, error) {
	for {
		s, err := l.next()
		if err != nil && !errors.Is(err, errLongLine) {
			return "", err
		}
		if err == nil {
			if _, err = weft.ReadListedSeed(s); err == nil {
				return s, nil
			}
		}
		err = fmt.Errorf("%s:%d: %w", l.name, l.line, err)
		if l.strict {
			return "", &badLine{err}
		}
		if l.skipped++; l.skipped <= mostSkipped {
			l.warn(err.Error() + ": skipped")
		}
	}
}

var errLongLine = fmt.Errorf("longer than %d bytes, expected a URL", maxLine)

// next returns the next line that is not skipped. The error is io.EOF, errLongLine, or one
// of the file.
func (l *list) next() (string, error) {
	for {
		b, err := l.lines.ReadSlice('\n')
		l.line++
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.lines.ReadSlice('\n')
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return "", err
			}
			return "", errLongLine
		}
		s := strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff"))
		if s != "" && s[0] != '#' {
			return s, nil
		}
		if err != nil {
			return "", err
		}
	}
}
