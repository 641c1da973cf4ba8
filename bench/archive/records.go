//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/warc"
)

// rate calls fn for a second of CPU time, three times, and returns the median of calls a second.
func rate(fn func()) float64 {
	var all []float64
	for range 3 {
		n, start := 0, process.CPU()
		for process.CPU()-start < time.Second {
			for range 10 {
				fn()
			}
			n += 10
		}
		all = append(all, float64(n)/(process.CPU()-start).Seconds())
	}
	return machine.Median(all)
}

const head = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 22 Nov 2026 21:50:58 GMT\r\n" +
	"Content-Type: text/html; charset=utf-8\r\nLast-Modified: Wed, 07 Oct 2026 12:35:07 GMT\r\n" +
	"Connection: keep-alive\r\nETag: W/\"6704a1b2-3d1f\"\r\nContent-Encoding: gzip\r\n\r\n"

const request = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8801\r\nUser-Agent: weft/0.1\r\nAccept: */*\r\n" +
	"Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n"

// writing measures captures of bodies that came compressed, none like another.
func (b *bench) writing() error {
	b.page.WriteString("\n## Writing\n\nCaptures of compressed bodies, none like another: response and request record, digests and the line\n" +
		"of the index, on one core, without the disk.\n\n| body | captures/s | MB/s | mark |\n|---|---|---|---|\n")
	for _, size := range []int{1 << 10, 10 << 10, 1 << 20} {
		response := make([]byte, len(head)+size)
		random := rand.NewChaCha8([32]byte{})
		random.Read(response[copy(response, head):])
		archive := capture.New(capture.Salt{}, warc.SHA256, 1<<20)
		at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		var line []byte
		serial := uint64(0)
		n := rate(func() {
			serial++
			binary.BigEndian.PutUint64(response[len(head):], serial)
			c := archive.Encode(&warc.Exchange{
				URL: "https://www.example.org/library/page.html", Date: at, Protocols: []string{"http/1.1", "tls/1.3"},
				Request: []byte(request), Response: response,
				Parts: &warc.Parts{Status: 200, Head: len(head), Payload: response[len(head):], Coded: true},
			}, frontier.Capture{}, "text/html")
			line = c.Index.Append(line[:0])
			archive.Placed(c)
		})
		mb := n * float64(size) / 1e6
		mark := verdict(n >= markPages, "≥ 10,000/s")
		if size == 1<<20 {
			mark = verdict(mb >= markWritten, "≥ 300 MB/s")
		}
		fmt.Fprintf(&b.page, "| %d KB | %s | %.0f | %s |\n", size>>10, machine.Thousands(n), mb, mark)
	}
	return nil
}

// totals are those of an archive.
type totals struct {
	records, responses int
	file, blocks       int64 // bytes; blocks of responses, as received
	plain              []byte
}

// look reads the archive of a crawl, and returns it.
func (b *bench) look(coded bool) (archive []byte, t totals, err error) {
	names, _ := filepath.Glob(filepath.Join(b.job(coded), "archive", "*.warc.gz"))
	if len(names) != 1 {
		return nil, t, fmt.Errorf("archives: %q, expected one", names)
	}
	if archive, err = os.ReadFile(names[0]); err != nil {
		return nil, t, err
	}
	var plain bytes.Buffer
	r := warc.NewReader(bytes.NewReader(archive))
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, t, err
		}
		t.records++
		if is := record.Type(); is == warc.Response || is == warc.Revisit {
			t.responses++
			t.blocks += record.Length
		}
		fmt.Fprintf(&plain, "%s\r\n%s\r\n", record.Version, warc.Fields(record.Header))
		_, err = io.Copy(&plain, record)
		plain.WriteString("\r\n\r\n")
		if err != nil {
			return nil, t, err
		}
	}
	t.file, t.plain = int64(len(archive)), plain.Bytes()
	return archive, t, nil
}

// reading measures reading the archives of the crawls, and states their size.
func (b *bench) reading() error {
	b.page.WriteString("\n## Reading\n\nThe archives of the crawls, read from memory to the end of each block, on one core.\n\n" +
		"| archive | records | records/s | MB/s | mark |\n|---|---|---|---|---|\n")
	var sizes bytes.Buffer
	for _, coded := range []bool{true, false} {
		archive, t, err := b.look(coded)
		if err != nil {
			return err
		}
		name := "gzip bodies"
		if !coded {
			name = "plain bodies"
		}
		n := rate(func() { err = errors.Join(err, readAll(archive)) }) * float64(t.records)
		fmt.Fprintf(&b.page, "| gzip members, %s | %d | %s | %.0f | %s |\n", name, t.records, machine.Thousands(n),
			n/float64(t.records)*float64(t.file)/1e6, verdict(n >= markRecords, "≥ 15,000/s"))
		n = rate(func() { err = errors.Join(err, readAll(t.plain)) }) * float64(t.records)
		mb := n / float64(t.records) * float64(len(t.plain)) / 1e6
		fmt.Fprintf(&b.page, "| no members, %s | %d | %s | %s | %s |\n", name, t.records, machine.Thousands(n), machine.Thousands(mb),
			verdict(mb >= markRead, "≥ 300 MB/s"))
		if err != nil {
			return err
		}
		perPage := float64(t.file-t.blocks) / float64(t.responses)
		fmt.Fprintf(&sizes, "| %s | %d | %.2f | %.2f | %.0f |\n", name, t.responses, float64(t.blocks)/1e6, float64(t.file)/1e6, perPage)
	}
	fmt.Fprintf(&b.page, "\n## Size\n\nThe archive beside the responses as received: fields of the records, requests and gzip framing, less\n"+
		"what compressing saves.\n\n| bodies | responses | as received, MB | archive, MB | bytes more per response |\n|---|---|---|---|---|\n%s", sizes.Bytes())
	return nil
}

func readAll(archive []byte) error {
	r := warc.NewReader(bytes.NewReader(archive))
	for {
		if _, err := r.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
