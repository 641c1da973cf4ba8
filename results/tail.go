package results

import (
	"bytes"
	"encoding/json"

	"github.com/weftcrawl/weft/record"
)

// tail bounds the end of the file of records that Latest reads, in bytes.
const tail = 1 << 20

// Latest returns the last records of a job, at most so many, the latest first. It reads no more
// than a MiB, whatever the size of the job, which may be written meanwhile.
func Latest(dir string, most int) ([]record.Record, error) {
	f, err := openFile(dir, Pages)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, _, err := f.window(max(0, f.size-tail), tail)
	var all []record.Record
	for len(text) > 0 && len(all) < most && err == nil {
		at := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
		var r record.Record
		if err = json.Unmarshal(text[at:], &r); err == nil {
			all = append(all, r)
		}
		text = text[:at]
	}
	return all, err
}

// window returns the complete lines of a part of the file, and where they begin.
func (f *file) window(from int64, size int) (lines []byte, at int64, err error) {
	text := make([]byte, min(int64(size), f.size-from))
	if n, err := f.ReadAt(text, from); n < len(text) {
		return nil, from, err
	}
	if from > 0 {
		begin := bytes.IndexByte(text, '\n') + 1
		text, from = text[begin:], from+int64(begin)
	}
	return text[:bytes.LastIndexByte(text, '\n')+1], from, nil
}
