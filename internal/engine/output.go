package engine

import (
	"context"
	"fmt"
	"io"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/record"
)

// output is the stream of records that Config.Output is given, batch by batch.
// Owner: the coordinator's loop; write runs off it.
type output struct {
	stream *record.Stream
	writer *store.PatientWriter
}

// newOutput returns the output to w; begins says whether the stream has a beginning of its own, as
// that of the job's first run does.
func newOutput(w io.Writer, form record.Form, begins bool, waiting func(full error)) *output {
	return &output{record.NewStream(form, begins), store.NewPatientWriter(w, waiting)}
}

// write writes what a batch has for the stream.
func (o *output) write(ctx context.Context, lines []byte) error {
	defer o.writer.AbandonWith(ctx)()
	if _, err := o.writer.Write(lines); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}
