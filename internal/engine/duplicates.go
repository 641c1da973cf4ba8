package engine

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
)

// duplicateLog is the index of duplicates on disk: a note for each first page of a content, under
// its number.
type duplicateLog struct {
	index     *duplicates.Index // nil: none are remembered
	forgotten uint64            // pages up to this number have no note any more
}

// add saves a page that later ones may duplicate, and drops the pages that the index has forgotten.
func (l *duplicateLog) add(b *store.Batch, v duplicates.Verdict) {
	if v.Seq == 0 {
		return
	}
	b.Set(duplicateNote(v.Seq), encodeDuplicate(v.Taken))
	for ; l.forgotten < v.Left; l.forgotten++ {
		b.Delete(duplicateNote(l.forgotten + 1))
	}
}

// recall brings back what the job has seen.
func (l *duplicateLog) recall(s *store.Store) error {
	if l.index == nil {
		return nil
	}
	l.forgotten = 0
	for n, err := range s.Notes(job.NoteDuplicate) {
		if err != nil {
			return err
		}
		seq, err := strconv.ParseUint(n.Name[len(job.NoteDuplicate):], 16, 64)
		if err != nil || seq == 0 || len(n.Value) < duplicateHead {
			return fmt.Errorf("%w: note %.64q", store.ErrDamaged, n.Name)
		}
		if l.forgotten == 0 {
			l.forgotten = seq - 1
		}
		l.index.Restore(seq, decodeDuplicate(n.Value))
	}
	return nil
}

// duplicateNote is the name of a page's note. Names sort in the order in which pages were seen.
func duplicateNote(seq uint64) string { return fmt.Sprintf("%s%016x", job.NoteDuplicate, seq) }

const duplicateHead = 16 // bytes before the URL

func encodeDuplicate(p duplicates.Page) []byte {
	b := make([]byte, 0, duplicateHead+len(p.URL))
	b = binary.BigEndian.AppendUint64(b, p.Content)
	b = binary.BigEndian.AppendUint64(b, p.Simhash)
	return append(b, p.URL...)
}

func decodeDuplicate(b []byte) duplicates.Page {
	return duplicates.Page{Content: binary.BigEndian.Uint64(b), Simhash: binary.BigEndian.Uint64(b[8:]), URL: string(b[duplicateHead:])}
}
