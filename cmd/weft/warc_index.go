package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/warc"
)

func warcIndexCommand() *cobra.Command {
	var output string
	var limit int
	cmd := &cobra.Command{
		Use:   "index [flags] FILE...",
		Short: "Index archives by URL",
		Long: `Print a line of CDXJ for each response, revisit and resource record: the key of
its URL, the date, and a JSON object with URL, media type, status, digest,
offset and length of the record, and the name of the file. Lines are sorted by
their bytes, which is what pywb and ReplayWeb.page look URLs up in.`,
		Annotations: detailed(`
FILE is WARC or ARC, compressed with gzip or not. Records that share a gzip
member cannot be read from an offset, and are not indexed.

Damage is reported, and what can be read is indexed.

Exit status: 0 done; 1 a file is damaged or cannot be read, or the output cannot
be written; 3 usage error; 5 interrupted.`),
		Example: `  weft warc index crawl-*.warc.gz -o index.cdxj`,
		Args:    arguments(1, math.MaxInt, "file", "WARC or ARC files"),
		RunE:    func(_ *cobra.Command, args []string) error { return indexArchives(args, output, limit) },
	}
	define(cmd, group{"Output", []option{
		limitOption(&limit, "records"),
		{name: "output", short: "o", arg: "FILE", Value: to(&output, some("a FILE")),
			help: "write the index to FILE, when it is complete"},
	}})
	return cmd
}

// indexArchives writes the index of archives, at most limit lines of it; 0: all.
func indexArchives(paths []string, output string, limit int) error {
	dir := ""
	if output != "" {
		dir = filepath.Dir(output)
	}
	x := archive.NewIndexer(dir)
	defer x.Close()
	damaged := 0
	for _, path := range paths {
		f, err := openArchive("index", path)
		if err != nil {
			return err
		}
		err = x.File(filepath.Base(path), f, func(d *warc.DamageError) {
			damaged++
			reportDamage(path, d)
		})
		f.Close()
		if err != nil {
			return &exit{exitError, fmt.Errorf("%s: %w", path, reason(err))}
		}
	}
	write := func(_ context.Context, w io.Writer) error {
		if limit > 0 {
			w = &firstLines{w, limit}
		}
		_, err := x.WriteTo(w)
		return unlessEnough(err)
	}
	if err := writeOutput(context.Background(), output, write); err != nil {
		return err
	}
	if damaged > 0 {
		return &exit{exitError, nil}
	}
	return nil
}

// firstLines is a writer of the first lines; then it returns errEnough.
type firstLines struct {
	io.Writer
	left int
}

func (w *firstLines) Write(p []byte) (int, error) {
	end := 0
	for w.left > 0 {
		i := bytes.IndexByte(p[end:], '\n')
		if i < 0 {
			return w.Writer.Write(p)
		}
		end += i + 1
		w.left--
	}
	if n, err := w.Writer.Write(p[:end]); err != nil {
		return n, err
	}
	return end, errEnough
}
