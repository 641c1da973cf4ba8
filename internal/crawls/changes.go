package crawls

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/regular"
)

// Counts are those of what has changed from one visit to the next.
type Counts struct {
	Changed     int `json:"changed"`
	New         int `json:"new_pages"`
	Gone        int `json:"gone_pages"`
	Moved       int `json:"moved_pages"`
	Shared      int `json:"shared" doc:"differences that several pages share"`
	Unchanged   int `json:"unchanged"`
	NotCompared int `json:"not_compared" doc:"pages that one of the visits could not fetch"`
}

// Differ reports whether anything has changed.
func (c Counts) Differ() bool { return c.Changed+c.New+c.Gone+c.Moved+c.Shared > 0 }

// InWords returns the counts in a line.
func (c Counts) InWords() string {
	var all []string
	for _, one := range []struct {
		n    int
		what string
	}{{c.Changed, "changed"}, {c.New, "new"}, {c.Gone, "gone"}, {c.Moved, "moved"}, {c.Shared, "on several pages"}} {
		if one.n > 0 {
			all = append(all, strconv.Itoa(one.n)+" "+one.what)
		}
	}
	if all == nil {
		return "no change"
	}
	return strings.Join(all, ", ")
}

// Changes are those of a visit since the one before.
type Changes struct {
	Visit int       `json:"visit"`
	Time  time.Time `json:"time"`
	Counts
}

const (
	mostKept    = 50        // files of changes of a crawl
	mostChanges = 256 << 20 // bytes of such a file
	mostSummary = 256 << 10 // bytes of its last line
	mostDetails = 32 << 10  // bytes of a change in an answer: without its details if it has more
)

const changesFolder = ".changes"

// ChangesFile returns the path of the changes of a visit: lines of weft diff, the last of which is
// the summary.
func (f files) ChangesFile(name string, visit int) string {
	return filepath.Join(f.path(name, changesFolder), strconv.Itoa(visit)+".jsonl")
}

// compared returns the visits whose changes are known, in order.
func (f files) compared(name string) ([]int, error) {
	all, err := os.ReadDir(f.path(name, changesFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var visits []int
	for _, file := range all {
		base, ok := strings.CutSuffix(file.Name(), ".jsonl")
		if n, err := strconv.Atoi(base); ok && err == nil && n > 1 && strconv.Itoa(n) == base {
			visits = append(visits, n)
		}
	}
	slices.Sort(visits)
	return visits, err
}

// ListChanges returns the changes of a crawl whose files are kept, by visit.
func (f files) ListChanges(name string) ([]Changes, error) {
	visits, err := f.compared(name)
	if err != nil {
		return nil, err
	}
	var all []Changes
	for _, visit := range visits {
		if c, err := f.ChangesOf(name, visit); err == nil { // another may just be gone
			all = append(all, c)
		}
	}
	return all, nil
}

// ChangesOf returns the changes of a visit, if they are kept.
func (f files) ChangesOf(name string, visit int) (Changes, error) {
	file, err := regular.Open(f.ChangesFile(name, visit))
	if err != nil {
		return Changes{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Changes{}, err
	}
	from := max(0, info.Size()-mostSummary)
	text, err := io.ReadAll(io.NewSectionReader(file, from, mostSummary))
	if err != nil {
		return Changes{}, err
	}
	text = bytes.TrimRight(text, "\n")
	var summary struct {
		Kind string
		New  struct{ To time.Time }
		Counts
	}
	if err := json.Unmarshal(text[bytes.LastIndexByte(text, '\n')+1:], &summary); err != nil || summary.Kind != "summary" {
		return Changes{}, errors.New("the changes are not whole: expected a summary in the last line")
	}
	at := summary.New.To
	if at.IsZero() {
		at = info.ModTime()
	}
	return Changes{visit, at.UTC(), summary.Counts}, nil
}

// SomeChanges returns the first changes of a visit, of so many bytes.
func (f files) SomeChanges(name string, visit, most, bytes int) (all []json.RawMessage, err error) {
	file, err := regular.Open(f.ChangesFile(name, visit))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for size := 0; len(all) < most; {
		line, err := lines.ReadBytes('\n') // of a comparison, which bounds them
		if err != nil {
			return all, nil
		}
		var change map[string]json.RawMessage
		if err := json.Unmarshal(line, &change); err != nil {
			return all, err
		}
		if string(change["kind"]) == `"summary"` {
			break
		}
		if len(line) > mostDetails {
			delete(change, "details")
			if line, err = json.Marshal(change); err != nil {
				return all, err
			}
		}
		if size += len(line); size > bytes {
			break
		}
		all = append(all, line)
	}
	return all, nil
}

// prune removes the oldest files of changes beyond those that are kept.
func (f files) prune(name string) error {
	visits, err := f.compared(name)
	for len(visits) > mostKept && err == nil {
		err = os.Remove(f.ChangesFile(name, visits[0]))
		visits = visits[1:]
	}
	return err
}

// keep writes the changes of a visit, as a whole, and durably.
func (f files) keep(name string, visit int, write func(io.Writer) error) error {
	dir := files{f.path(name, changesFolder)}
	if err := os.MkdirAll(dir.dir, 0o700); err != nil {
		return err
	}
	if err := replace(f.ChangesFile(name, visit), write); err != nil {
		return err
	}
	if _, err := f.ChangesOf(name, visit); err != nil {
		return errors.Join(err, os.Remove(f.ChangesFile(name, visit)))
	}
	return errors.Join(dir.sync(), f.sync(), f.prune(name))
}

// bounded is a writer of so many bytes.
type bounded struct {
	io.Writer
	left int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("more than %d MiB of changes", mostChanges>>20)
	}
	return b.Writer.Write(p)
}
