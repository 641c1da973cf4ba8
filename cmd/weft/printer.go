package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
)

// printer writes to standard output. On a terminal, what could control it is escaped.
type printer struct {
	*bufio.Writer
	json *json.Encoder // to the same
}

func newPrinter() *printer {
	w := bufio.NewWriter(terminal(os.Stdout))
	return &printer{w, newEncoder(w)}
}

// ReadFrom copies from a reader. Its error is not one of standard output, for which bufio.Writer
// may take it.
func (p *printer) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{p.Writer}, from)
}

// newEncoder returns an encoder that leaves &, < and > as they are: URLs stay readable.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}
