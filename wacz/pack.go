package wacz

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"path"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/warc"
)

// Options describe a package.
type Options struct {
	Title    string // of the collection; "": none
	Software string // that makes it

	// Damage is called for what cannot be read in a WARC file; nil: it is passed over. The file is
	// packed as it is, and the rest of it indexed.
	Damage func(path string, d *warc.DamageError)
}

// The entries besides the archives.
const (
	packageFile = "datapackage.json"
	digestFile  = "datapackage-digest.json"
	pagesFile   = "pages/pages.jsonl"
	plainIndex  = "indexes/index.cdxj"
	blockIndex  = "indexes/index.cdx.gz"
	blockList   = "indexes/index.idx"
	archives    = "archive/"
)

// version is that of the specification.
const version = "1.1.1"

// dataPackage is datapackage.json, a Frictionless Data Package.
type dataPackage struct {
	Profile      string     `json:"profile"`
	Version      string     `json:"wacz_version"`
	Title        string     `json:"title,omitempty"`
	Created      time.Time  `json:"created,omitzero"`
	Software     string     `json:"software,omitempty"`
	MainPageURL  string     `json:"mainPageUrl,omitempty"`
	MainPageDate string     `json:"mainPageDate,omitempty"`
	Resources    []resource `json:"resources"`
}

type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// packageDigest is datapackage-digest.json.
type packageDigest struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
}

// packer writes a package.
type packer struct {
	zip       *zip.Writer
	opt       Options
	pages     *pageList
	resources []resource
	newest    time.Time // capture
}

func newPacker(to io.Writer, o Options) *packer {
	return &packer{zip: zip.NewWriter(to), opt: o, pages: newPageList()}
}

// close frees what the packer holds. The package is not complete without finish.
func (p *packer) close() { p.pages.close() }

// note takes in a capture of the archives.
func (p *packer) note(x *warc.Index) error {
	if x.Date.After(p.newest) {
		p.newest = x.Date
	}
	return p.pages.capture(x.URL)
}

// entry adds what write writes, and lists it as a resource.
func (p *packer) entry(name string, method uint16, write func(io.Writer) error) error {
	h := &zip.FileHeader{Name: name, Method: method}
	//lint:ignore SA1019 for a field of Modified, ReplayWeb.page requests each local header
	h.ModifiedDate = 1<<5 | 1 // 1980-01-01, the first that ZIP can express
	w, err := p.zip.CreateHeader(h)
	if err != nil {
		return err
	}
	sum := &summed{Writer: w, hash: sha256.New()}
	if err := write(sum); err != nil {
		return err
	}
	p.resources = append(p.resources, resource{path.Base(name), name, sum.digest(), sum.n})
	return nil
}

// summed counts and digests what is written.
type summed struct {
	io.Writer
	hash hash.Hash
	n    int64
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	s.hash.Write(b[:n])
	s.n += int64(n)
	return n, err
}

func (s *summed) digest() string { return "sha256:" + hex.EncodeToString(s.hash.Sum(nil)) }

// lines calls use for each of some lines, without its end.
type lines func(use func(line []byte) error) error

const (
	mostPlain  = 4 << 20 // bytes of an index that is one text
	blockLines = 1024    // of a larger one
)

// index adds the index, of size bytes.
func (p *packer) index(size int64, sorted lines) error {
	if size <= mostPlain {
		return p.entry(plainIndex, zip.Store, func(w io.Writer) error { return writeLines(w, sorted) })
	}
	blocks := extsort.New("") // one line for each, in order
	defer blocks.Close()
	err := p.entry(blockIndex, zip.Store, func(w io.Writer) error { return writeBlocks(w, sorted, blocks.Add) })
	if err != nil {
		return err
	}
	return p.entry(blockList, zip.Deflate, func(w io.Writer) error {
		fmt.Fprintf(w, "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"%s\"}\n", path.Base(blockIndex))
		return writeLines(w, blocks.Each)
	})
}

// block is the list's entry for a block of the index.
type block struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Digest string `json:"digest"`
}

// writeBlocks writes lines in gzip members, and lists them: the first key and date, then the block.
func writeBlocks(w io.Writer, sorted lines, list func(line []byte) error) error {
	var (
		member bytes.Buffer
		first  []byte
		at     int64
		n      int
	)
	z := gzip.NewWriter(&member)
	end := func() error {
		if n == 0 {
			return nil
		}
		if err := z.Close(); err != nil {
			return err
		}
		digest := sha256.Sum256(member.Bytes())
		about, err := json.Marshal(block{at, int64(member.Len()), "sha256:" + hex.EncodeToString(digest[:])})
		if err != nil {
			return err
		}
		if err := list(append(first, about...)); err != nil {
			return err
		}
		if _, err := w.Write(member.Bytes()); err != nil {
			return err
		}
		at += int64(member.Len())
		n = 0
		member.Reset()
		z.Reset(&member)
		return nil
	}
	err := sorted(func(line []byte) error {
		if n == blockLines {
			if err := end(); err != nil {
				return err
			}
		}
		if n == 0 {
			first = append(first[:0], line[:bytes.IndexByte(line, '{')]...)
		}
		n++
		z.Write(line)
		_, err := z.Write([]byte{'\n'})
		return err
	})
	if err != nil {
		return err
	}
	return end()
}

// finish adds the pages and the description of the package.
func (p *packer) finish() error {
	var main page
	err := p.entry(pagesFile, zip.Deflate, func(w io.Writer) (err error) {
		main, err = p.pages.write(w)
		return err
	})
	if err != nil {
		return err
	}
	about, err := json.MarshalIndent(dataPackage{
		Profile: "data-package", Version: version, Title: p.opt.Title, Created: p.newest.UTC(), Software: p.opt.Software,
		MainPageURL: main.URL, MainPageDate: main.Date, Resources: p.resources,
	}, "", "  ")
	if err != nil {
		return err
	}
	whole := func(b []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(append(b, '\n'))
			return err
		}
	}
	if err := p.entry(packageFile, zip.Deflate, whole(about)); err != nil {
		return err
	}
	digest, err := json.MarshalIndent(packageDigest{packageFile, p.resources[len(p.resources)-1].Hash}, "", "  ")
	if err != nil {
		return err
	}
	if err := p.entry(digestFile, zip.Deflate, whole(digest)); err != nil {
		return err
	}
	return p.zip.Close()
}
