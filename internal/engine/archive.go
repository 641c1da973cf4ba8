package engine

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/warc"
)

// archive places captures in the files of the job's archive, one after the other. Batches carry
// them there, so that after a crash a file ends with the last capture that was committed.
// Owner: the coordinator's loop.
type archive struct {
	captures *capture.Archive // nil: there is no archive
	encoder  *warc.Encoder
	about    warc.Header // of the crawl, for each file
	most     int64       // bytes: a file that would become longer ends

	name   string // of the open file, in the job's folder; "": none
	size   int64  // of it, with what is in batches
	serial int    // of the last file
	line   []byte // scratch

	placed, bytes int64 // captures of this process, and what it has added
}

// openArchive goes on where the last run has stopped.
func openArchive(cfg *Config, j *job.Job) (archive, error) {
	a := archive{captures: cfg.Fetch.Archive, encoder: warc.NewEncoder(warc.Options{}), about: cfg.Archive.About, most: cfg.Archive.Size}
	files, err := j.Store.Series()
	for _, f := range files {
		a.serial = max(a.serial, serialOf(f.Name))
		if !f.Ended {
			a.name, a.size = f.Name, f.Size
		}
	}
	return a, err
}

// A file is named as the International Internet Preservation Consortium suggests: prefix, date,
// serial number.
const (
	warcPrefix = "weft"
	warcExt    = ".warc.gz"
)

func nameOf(at time.Time, serial int) string {
	return path.Join(job.ArchiveDir, fmt.Sprintf("%s-%s-%05d%s", warcPrefix, at.UTC().Format("20060102150405"), serial, warcExt))
}

func serialOf(name string) int {
	name = strings.TrimSuffix(name, warcExt)
	n, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:]) // 0: not a name of ours
	return n
}

// place adds a capture to a batch, and its place to the record of its URL, if there is one. It
// returns the place.
func (a *archive) place(b *store.Batch, c *capture.Capture, r *record.Record, now time.Time) (file string, offset int64) {
	if a.name != "" && a.size+int64(len(c.Records)) > a.most {
		a.end(b)
	}
	if a.name == "" {
		a.serial++
		a.name, a.size = nameOf(now, a.serial), 0
		a.append(b, a.encoder.Info(nil, a.captures.ID(a.name, now), now.UTC().Truncate(time.Microsecond), path.Base(a.name), a.about))
	}
	file, offset = path.Base(a.name), a.size
	c.Index.Filename, c.Index.Offset = file, offset
	if r != nil && c.Index.URL != "" {
		r.WARCFile, r.WARCOffset = c.Index.Filename, c.Index.Offset
	}
	a.append(b, c.Records)
	if c.Index.URL != "" {
		a.line = c.Index.Append(a.line[:0])
		b.Append(job.CapturesFile, a.line)
	}
	a.captures.Placed(c)
	a.placed++
	return file, offset
}

func (a *archive) append(b *store.Batch, records []byte) {
	b.Append(a.name, records)
	a.size += int64(len(records))
	a.bytes += int64(len(records))
}

// end ends the open file. Whatever comes goes to the next.
func (a *archive) end(b *store.Batch) {
	if a.name != "" {
		b.End(a.name)
		a.name = ""
	}
}
