package results

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sort"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/record"
)

// Index finds the last record of a URL, for those who go through the URLs of a job in another order
// than that of its records. In memory it takes a few bytes for a hundred URLs. Close it; it belongs
// to one goroutine.
type Index struct {
	file   *file
	places *os.File        // entries, in the order of the hashes of URLs
	size   int64           // of places, in bytes
	first  [][hashLen]byte // the hash at the beginning of each block of places
	block  []byte
}

const (
	hashLen  = 16
	entryLen = hashLen + 8 + 4 // hash of the URL; offset and length of its line
	blockLen = entryLen * 146  // bytes of places that are read at once, some 4 KiB
)

// OpenIndex reads pages.jsonl as it is now. Temp is a folder for what does not fit into memory, ""
// that for temporary files.
func OpenIndex(ctx context.Context, dir, temp string) (x *Index, err error) {
	old, _, err := Superseded(ctx, dir, 0, temp)
	if err != nil {
		return nil, err
	}
	sorter := extsort.New(temp)
	defer sorter.Close()
	for l, err := range Lines(ctx, dir, Pages, old) {
		if err != nil {
			return nil, err
		}
		url, _, err := l.URL()
		if err != nil {
			return nil, err
		}
		entry := hashOf(url)
		if err := sorter.Add(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(entry[:], uint64(l.at)), uint32(len(l.text)))); err != nil {
			return nil, err
		}
	}
	x = &Index{block: make([]byte, blockLen)}
	if x.file, err = openFile(dir, Pages); err != nil {
		return nil, err
	}
	if err := x.write(sorter, temp); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// write writes the sorted entries to a file without a name.
func (x *Index) write(sorter *extsort.Sorter, temp string) (err error) {
	if x.places, err = os.CreateTemp(temp, ".weft-index-*"); err != nil {
		return err
	}
	os.Remove(x.places.Name()) // the file goes with the descriptor
	out := bufio.NewWriter(x.places)
	err = sorter.Each(func(entry []byte) error {
		if x.size%blockLen == 0 {
			x.first = append(x.first, [hashLen]byte(entry))
		}
		x.size += entryLen
		_, err := out.Write(entry)
		return err
	})
	return errors.Join(err, out.Flush())
}

func hashOf(url []byte) [hashLen]byte {
	sum := sha256.Sum256(url)
	return [hashLen]byte(sum[:])
}

// Find returns the last record of a URL, which is spelt as in the records; nil: there is none.
func (x *Index) Find(url string) (*record.Record, error) {
	hash := hashOf([]byte(url))
	n := sort.Search(len(x.first), func(i int) bool { return bytes.Compare(x.first[i][:], hash[:]) > 0 }) - 1
	if n < 0 {
		return nil, nil
	}
	block := x.block[:min(blockLen, x.size-int64(n)*blockLen)]
	if _, err := x.places.ReadAt(block, int64(n)*blockLen); err != nil {
		return nil, err
	}
	at := func(i int) []byte { return block[i*entryLen:][:entryLen] }
	// The last of them: a crawl that runs may have added another record of the URL.
	i := sort.Search(len(block)/entryLen, func(i int) bool { return bytes.Compare(at(i)[:hashLen], hash[:]) > 0 }) - 1
	if i < 0 || !bytes.HasPrefix(at(i), hash[:]) {
		return nil, nil
	}
	place := at(i)[hashLen:]
	line := Line{file: x.file, text: make([]byte, binary.BigEndian.Uint32(place[8:]))}
	if _, err := x.file.ReadAt(line.text, int64(binary.BigEndian.Uint64(place))); err != nil && err != io.EOF {
		return nil, err
	}
	r := new(record.Record)
	return r, line.Into(r)
}

// Close lets go of the files.
func (x *Index) Close() error {
	err := x.file.Close()
	if x.places != nil {
		err = errors.Join(err, x.places.Close())
	}
	return err
}
