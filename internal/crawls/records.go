package crawls

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/weftcrawl/weft/internal/regular"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// ErrPlace is returned for a place where no record begins.
var ErrPlace = errors.New("after: expected the value of next in the part before")

// mostLine bounds a record, in bytes.
const mostLine = 1 << 20

// Records reads the records of a job in the order of fetching, from a place on, for as long as take
// wants more. A place, "" for the beginning, stays what it is, as records are only added. Returned
// are the place behind the last record, and whether there are more already. Errors: ErrPlace, those
// of the system.
func Records(job, after string, take func(r *record.Record, bytes int) bool) (next string, more bool, err error) {
	at := int64(0)
	if after != "" {
		if at, err = strconv.ParseInt(after, 10, 64); err != nil || at < 0 {
			return "", false, ErrPlace
		}
	}
	place := func() string { return strconv.FormatInt(at, 10) }
	file, err := regular.Open(filepath.Join(job, results.Pages))
	if errors.Is(err, fs.ErrNotExist) {
		return place(), false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	if at > 0 {
		var before [1]byte
		if _, err := file.ReadAt(before[:], at-1); err != nil && err != io.EOF || before[0] != '\n' {
			return "", false, ErrPlace
		}
	}
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return "", false, err
	}
	for lines := bufio.NewReaderSize(file, mostLine); ; {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return place(), false, nil // the last line may not be whole yet
		}
		at += int64(len(line))
		var r record.Record
		if json.Unmarshal(line, &r) != nil {
			continue // it is of another version
		}
		if !take(&r, len(line)) {
			_, err := lines.Peek(1)
			return place(), err == nil, nil
		}
	}
}
