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

// list is a file of URLs, one per line, read while the crawl runs. Empty lines and lines that start
// with '#' are skipped.
type list struct {
	name  string
	file  io.ReadCloser
	lines *bufio.Reader
	line  int          // number of the last line read
	first string       // its first URL, read ahead
	warn  func(string) // about lines that are not URLs
}

// openList opens a list and reads its first URL. It is an error if that is not one.
func openList(path string, warn func(string)) (*list, error) {
	l := &list{name: path, file: os.Stdin, warn: warn}
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
	l.first, err = l.next()
	switch {
	case errors.Is(err, io.EOF):
		return usage("--input %s: no URL in it, expected one per line, such as https://example.org/", l.name)
	case errors.Is(err, errLongLine):
		return usage("--input %s:%d: %w", l.name, l.line, err)
	case err != nil:
		return usage("--input %s: %w, expected a file of URLs", l.name, reason(err))
	}
	if _, err := weft.ParseSeed(l.first); err != nil {
		return usage("--input %s:%d: %w", l.name, l.line, err)
	}
	return nil
}

// Close closes the file: a read in progress fails.
func (l *list) Close() { _ = l.file.Close() }

// urls yields the URLs. It warns about lines that are not URLs; an error ends the list.
func (l *list) urls(yield func(string, error) bool) {
	if !yield(l.first, nil) {
		return
	}
	for {
		s, err := l.next()
		if errors.Is(err, errLongLine) {
			l.skip(err)
			continue
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield("", fmt.Errorf("%s: %w", l.name, reason(err)))
			return
		}
		if _, err := weft.ParseSeed(s); err != nil {
			l.skip(err)
			continue
		}
		if !yield(s, nil) {
			return
		}
	}
}

func (l *list) skip(err error) { l.warn(fmt.Sprintf("%s:%d: %v: skipped", l.name, l.line, err)) }

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
