package cluster

import (
	"context"

	"github.com/weftcrawl/weft/internal/collect"
)

// Collected is the extent of what Collect has merged.
type Collected struct {
	Records, Repeated int   // in the folder; left out, as their URLs were fetched again later
	Archives          int   // files of WARC
	Bytes             int64 // of them
}

// ErrTwice is returned by Collect for a folder that is named twice.
var ErrTwice = collect.ErrTwice

// Collect merges the jobs of nodes into a new folder: records, links, items, bodies and archives,
// each URL once, as fetched last. It is whole, or not there. The jobs stay as they are, and may
// come from other machines. Its error is fs.ErrExist if the folder is there. What reads the results
// of a job (package results) reads it.
func Collect(ctx context.Context, dir string, jobs []string) (Collected, error) {
	s, err := collect.Jobs(ctx, dir, jobs)
	return Collected(s), err
}
