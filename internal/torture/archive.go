package torture

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/warc"
)

// place is the position of a record in the archive.
type place struct {
	file   string
	offset int64
}

// archived is the content of an archive.
type archived struct {
	captures map[string][]place // responses and revisits by URL
	bodies   map[string][]byte  // of responses, decoded, by URL and date
	revisits map[place]string   // URL and date of the original
	index    []string           // lines that captures.cdxj should have, without their length
}

// Archive checks the archive of a job, if it has one: every file is whole up to what was committed,
// each finished URL that was answered, but for those of HEAD, has exactly one response or revisit,
// at the place that its record says, with the body of that record's hash, and the index has a line
// for each.
func (l Left) Archive(files store.FS, dir string) (err error) {
	s, err := store.Open(dir, store.Options{FS: files, Outputs: []string{"pages.jsonl", "links.jsonl", "archive/captures.cdxj"}, Series: "archive"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	series, err := s.Series()
	if err != nil {
		return err
	}
	a := archived{captures: make(map[string][]place), bodies: make(map[string][]byte), revisits: make(map[place]string)}
	checker := warc.NewChecker()
	var faults []error
	report := func(f warc.Fault) { faults = append(faults, f) }
	for _, o := range series {
		data, err := readFile(files, files.PathJoin(dir, o.Path()))
		if err == nil && int64(len(data)) != o.Size {
			err = fmt.Errorf("%d bytes, %d committed", len(data), o.Size)
		}
		if err == nil {
			err = checker.File(o.Name, bytes.NewReader(data), report)
		}
		if err == nil {
			err = a.read(path.Base(o.Name), data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Path(), err)
		}
	}
	checker.End(report)
	index, err := readFile(files, files.PathJoin(dir, "archive/captures.cdxj"))
	return errors.Join(errors.Join(faults...), err, a.against(l), a.indexed(index))
}

// read takes in the captures of a file.
func (a *archived) read(name string, data []byte) error {
	in := warc.NewReader(bytes.NewReader(data))
	for {
		r, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r.Type() != warc.Response && r.Type() != warc.Revisit {
			continue
		}
		at := place{name, r.Offset}
		a.captures[r.URL()] = append(a.captures[r.URL()], at)
		a.index = append(a.index, fmt.Sprintf("%s %s %d", r.URL(), name, r.Offset))
		if r.Type() == warc.Revisit {
			a.revisits[at] = r.Header.Get("WARC-Refers-To-Target-URI") + " " + r.Header.Get("WARC-Refers-To-Date")
			continue
		}
		m, err := warc.ReadMessage(r)
		if err != nil {
			return err
		}
		if r.Header.Get("WARC-Truncated") != "" {
			continue
		}
		body, err := m.Body()
		if err != nil {
			continue // a coding that nobody knows
		}
		text, _ := io.ReadAll(body) // some of the web's are broken
		a.bodies[r.URL()+" "+r.Header.Get("WARC-Date")] = text
		a.bodies[fmt.Sprint(at)] = text
	}
}

// against compares the archive with the records.
func (a *archived) against(l Left) error {
	for u, places := range a.captures {
		if _, ok := l.Records[u]; !ok && !strings.HasSuffix(u, "/robots.txt") {
			return fmt.Errorf("the archive has %s, which has no record", u)
		}
		if len(places) > 1 && !strings.HasSuffix(u, "/robots.txt") {
			return fmt.Errorf("%d captures of %s", len(places), u)
		}
	}
	for u, r := range l.Records {
		at := place{r.WARCFile, r.WARCOffset}
		if r.Status == 0 || r.Method == "HEAD" {
			continue
		}
		if !slices.Contains(a.captures[u], at) {
			return fmt.Errorf("%s has its capture at %v, expected %v", u, a.captures[u], at)
		}
		if r.SHA256 == "" || r.ErrorKind != "" {
			continue
		}
		body, ok := a.bodies[fmt.Sprint(at)]
		if original, is := a.revisits[at]; is {
			body, ok = a.bodies[original]
		}
		if !ok || fmt.Sprintf("%x", sha256.Sum256(body)) != r.SHA256 {
			return fmt.Errorf("the capture of %s has %d bytes, and not those of its record", u, len(body))
		}
	}
	return nil
}

// indexed compares the archive with its index.
func (a *archived) indexed(index []byte) error {
	var lines []string
	for line := range strings.Lines(string(index)) {
		x, err := warc.ParseIndex(line)
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%s %s %d", x.URL, x.Filename, x.Offset))
	}
	if !slices.Equal(lines, a.index) {
		return fmt.Errorf("the index has %d lines, the archive %d captures, or others", len(lines), len(a.index))
	}
	return nil
}

// Bodies checks that the body of every record is in the job's folder, or its archive, and matches
// its hash.
func (l Left) Bodies(files store.FS, dir string) error {
	if _, err := files.Stat(files.PathJoin(dir, "archive")); err == nil {
		return l.Archive(files, dir)
	}
	for _, r := range l.Records {
		if r.SHA256 == "" {
			continue
		}
		body, err := readFile(files, files.PathJoin(dir, "bodies", r.SHA256[:2], r.SHA256))
		if err == nil && fmt.Sprintf("%x", sha256.Sum256(body)) != r.SHA256 {
			err = fmt.Errorf("%d bytes with another hash", len(body))
		}
		if err != nil {
			return fmt.Errorf("body of %s: %w", r.URL, err)
		}
	}
	return nil
}
