package engine

import (
	"fmt"
	"strconv"

	"github.com/weftcrawl/weft/internal/appshell/lessons"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
)

// saveLesson adds to a batch what rendering pages of a shape has shown.
func saveLesson(b *store.Batch, k *lessons.Known) {
	if k != nil {
		b.Set(fmt.Sprintf("%s%04x", job.NoteLesson, k.Slot), k.Value[:])
	}
}

// recallLessons brings back what earlier runs have learnt.
func recallLessons(to *lessons.Table, s *store.Store) error {
	for n, err := range s.Notes(job.NoteLesson) {
		if err != nil {
			return err
		}
		var k lessons.Known
		slot, err := strconv.ParseUint(n.Name[len(job.NoteLesson):], 16, 16)
		if k.Slot = uint16(slot); err != nil || copy(k.Value[:], n.Value) != len(k.Value) {
			return fmt.Errorf("%w: note %.64q", store.ErrDamaged, n.Name)
		}
		to.Restore(k)
	}
	return nil
}
