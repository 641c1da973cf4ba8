package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// localBase is the URL of a page that is read from a file.
const localBase = "http://localhost/"

// openSource opens a file, or standard input for "-" . Expected says what else the argument
// of the command may be.
func openSource(command, path, expected string) (*os.File, error) {
	if path == "-" {
		return os.Stdin, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("%s: %.128q: %w, expected %s", command, path, reason(err), expected)
	}
	return f, nil
}

// What an argument that names a file may be.
const (
	fileOrInput = "a file or - for standard input"
	fileOrURL   = "a file or a URL that starts with http:// or https://"
)

// readSource reads a file, or standard input for "-". More than most bytes are an error, whose
// text ends with hint.
func readSource(command, path, expected string, most int, hint string) ([]byte, error) {
	f, err := openSource(command, path, expected)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return nil, usage("%s: %.128q: %w, expected a file that can be read", command, path, reason(err))
	case len(b) > most:
		return nil, &exit{exitError, fmt.Errorf("%s: %.128q: larger than %s%s",
			command, path, plural(most, "byte"), hint)}
	}
	return b, nil
}

// jsonlOption is --jsonl.
func jsonlOption(jsonl *bool) option {
	return option{name: "jsonl", Value: on(jsonl), help: "answer JSON questions, one per line"}
}

// orJSONL accepts what otherwise does; with --jsonl, one FILE or none.
func orJSONL(jsonl *bool, noun string, otherwise cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *jsonl {
			return arguments(0, 1, noun, "one FILE or none with --jsonl")(cmd, args)
		}
		return otherwise(cmd, args)
	}
}
