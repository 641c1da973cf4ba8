package read

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/internal/filename"
	"github.com/weftcrawl/weft/internal/where"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// plan is the pages of a job in the order in which they are read, on disk: sites one after another,
// each with its sample in front.
type plan struct {
	file *os.File
	in   *bufio.Reader

	documents record.DocumentCounts // of the job, or of the host
}

// entry is a page of a plan.
type entry struct {
	host, name string // the name of its file, without extension, in the folder of texts
	record     record.Record
	sample     bool // it is read for the boilerplate of its site
}

// orderOf says where a page stands among others: by host, then by the name of its file whatever the
// case of its letters, then by URL.
func orderOf(url string) (host, name string) {
	name = filename.Of(url, "text/html")
	host, rest, _ := strings.Cut(name, "/")
	if rest == "" {
		return host, name
	}
	return host, name
}

// compare orders two pages.
func compare(urlA, urlB string) int {
	hostA, nameA := orderOf(urlA)
	hostB, nameB := orderOf(urlB)
	return cmp.Or(cmp.Compare(hostA, hostB), cmp.Compare(strings.ToLower(nameA), strings.ToLower(nameB)), cmp.Compare(urlA, urlB))
}

// newPlan lists the pages of a job; those of one host, if it is not "". Close it.
func newPlan(ctx context.Context, dir, host string, o *Options) (*plan, error) {
	var filter *where.Filter[record.Record]
	if o.Where != "" {
		var err error
		if filter, err = where.Compile[record.Record](o.Where); err != nil {
			return nil, err
		}
	}
	sorter := extsort.New(o.Temp)
	defer sorter.Close()
	var documents record.DocumentCounts
	var line []byte
	for r, err := range results.Last(ctx, dir, 0, o.Temp) {
		if err != nil {
			return nil, err
		}
		if documents.Count(r); !r.IsPage() || r.Role != "" {
			continue
		}
		if is, err := filter.Matches(r); err != nil || !is {
			if err != nil {
				return nil, err
			}
			continue
		}
		on, name := orderOf(r.URL)
		if host != "" && on != host {
			continue
		}
		small, err := json.Marshal(&record.Record{
			URL: r.URL, ContentType: r.ContentType, SniffedType: r.SniffedType, SHA256: r.SHA256, Method: r.Method, WARCFile: r.WARCFile, WARCOffset: r.WARCOffset,
			BodyBytes: r.BodyBytes, Rendered: r.Rendered.Place(),
		})
		if err != nil {
			return nil, err
		}
		line = append(line[:0], on...)
		line = append(append(line, 0), strings.ToLower(name)...)
		line = append(append(line, 0), r.URL...)
		line = append(append(line, 0), name...)
		line = append(line, 0, sameness(r))
		if err := sorter.Add(append(line, small...)); err != nil {
			return nil, err
		}
	}
	p, err := spool(sorter, o)
	if err == nil {
		p.documents = documents
	}
	return p, err
}

// sameness is the duplicate that a page is, as a letter.
func sameness(r *record.Record) byte {
	switch {
	case r.DuplicateOf != "":
		return 'd'
	case r.NearDuplicateOf != "":
		return 'n'
	}
	return '-'
}

// spool writes the sorted pages to a file, and the sample of each site before them.
func spool(sorter *extsort.Sorter, o *Options) (p *plan, err error) {
	file, err := os.CreateTemp(o.Temp, ".weft-read-*")
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name()) // it goes with its descriptor
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	// A sample is known when its site has been read: it is written behind, and read first. So two
	// passes: the first finds the samples, the second writes them and the pages.
	samples, err := samplesOf(sorter, o)
	if err != nil {
		return nil, err
	}
	defer samples.Close()
	out := bufio.NewWriterSize(file, 256<<10)
	in := bufio.NewReader(samples)
	at := ""
	begun := false
	err = sorter.Each(func(line []byte) error {
		host, _, _ := bytes.Cut(line, []byte{0})
		if !begun || string(host) != at {
			at, begun = string(host), true
			for {
				one, err := readEntry(in)
				if errors.Is(err, io.EOF) || err == nil && len(one) == 0 { // the end of a sample
					break
				}
				if err != nil {
					return err
				}
				if err := writeEntry(out, 's', one); err != nil {
					return err
				}
			}
		}
		url, _, same, _ := fieldsOf(line)
		if o.NoDuplicates && same != '-' || o.wanted != nil && !o.wanted(string(url)) {
			return nil
		}
		return writeEntry(out, 'p', line)
	})
	if err != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return &plan{file: file, in: bufio.NewReaderSize(file, 256<<10)}, nil
}

// samplesOf writes the samples of all sites to a file, each with an empty line behind it.
func samplesOf(sorter *extsort.Sorter, o *Options) (*os.File, error) {
	file, err := os.CreateTemp(o.Temp, ".weft-read-*")
	if err != nil {
		return nil, err
	}
	os.Remove(file.Name())
	out := bufio.NewWriter(file)
	lowest := sample{none: o.Whole}
	at, begun := "", false
	err = sorter.Each(func(line []byte) error {
		host, _, _ := bytes.Cut(line, []byte{0})
		if begun && string(host) != at {
			if err := lowest.write(out); err != nil {
				return err
			}
		}
		if !begun || string(host) != at {
			at, begun = string(host), true
		}
		lowest.add(line)
		return nil
	})
	if err == nil && begun {
		err = lowest.write(out)
	}
	if err = errors.Join(err, out.Flush()); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// sample keeps the pages of a site whose URLs have the lowest hashes, so that it is the same
// however the site was crawled. Duplicates of other pages do not count.
type sample struct {
	all  []hashed
	none bool // none is wanted
}

type hashed struct {
	hash uint64
	line []byte
}

func (s *sample) add(line []byte) {
	url, _, same, _ := fieldsOf(line)
	if same == 'd' || s.none {
		return
	}
	s.all = append(s.all, hashed{xxhash.Sum64(url), bytes.Clone(line)})
	if len(s.all) >= 2*SampleSize {
		s.trim()
	}
}

func (s *sample) trim() {
	slices.SortFunc(s.all, func(a, b hashed) int { return cmp.Compare(a.hash, b.hash) })
	s.all = s.all[:min(len(s.all), SampleSize)]
}

// write writes the sample, and empties it. One that is too small is empty.
func (s *sample) write(out *bufio.Writer) error {
	s.trim()
	if len(s.all) >= FewestSeen {
		for _, one := range s.all {
			if err := writeEntry(out, 0, one.line); err != nil {
				return err
			}
		}
	}
	s.all = s.all[:0]
	return writeEntry(out, 0, nil)
}

// writeEntry writes a line behind its length, and behind a kind if there is one.
func writeEntry(out *bufio.Writer, kind byte, line []byte) error {
	var head [binary.MaxVarintLen64 + 1]byte
	n := binary.PutUvarint(head[:], uint64(len(line)))
	if kind != 0 {
		if err := out.WriteByte(kind); err != nil {
			return err
		}
	}
	out.Write(head[:n])
	_, err := out.Write(line)
	return err
}

func readEntry(in *bufio.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	if n > extsort.MaxLine {
		return nil, io.ErrUnexpectedEOF
	}
	line := make([]byte, n)
	_, err = io.ReadFull(in, line)
	return line, err
}

// next returns the next page; io.EOF at the end.
func (p *plan) next() (*entry, error) {
	kind, err := p.in.ReadByte()
	if err != nil {
		return nil, err
	}
	line, err := readEntry(p.in)
	if err != nil {
		return nil, err
	}
	e := entryOf(line)
	e.sample = kind == 's'
	return e, nil
}

// fieldsOf returns what is in a line of the sorter: host, name in lower case, URL, name, sameness
// and the record.
func fieldsOf(line []byte) (url, name []byte, same byte, rest []byte) {
	_, rest, _ = bytes.Cut(line, []byte{0})
	_, rest, _ = bytes.Cut(rest, []byte{0})
	url, rest, _ = bytes.Cut(rest, []byte{0})
	name, rest, _ = bytes.Cut(rest, []byte{0})
	if len(rest) == 0 {
		return url, name, '-', nil
	}
	return url, name, rest[0], rest[1:]
}

// entryOf reads a line of the sorter.
func entryOf(line []byte) *entry {
	var e entry
	host, _, _ := bytes.Cut(line, []byte{0})
	_, name, _, rest := fieldsOf(line)
	e.host, e.name = string(host), string(name)
	_ = json.Unmarshal(rest, &e.record) // which newPlan wrote
	return &e
}

// Close removes the plan.
func (p *plan) Close() error { return p.file.Close() }

// source is the page with a body.
func (e *entry) source(body []byte) (Source, error) {
	u, err := weburl.Parse(e.record.URL)
	return Source{URL: u, ContentType: e.record.Type(), Body: body}, err
}
