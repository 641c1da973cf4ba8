package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/charset"
)

// maxPage bounds the file that weft charset reads, in bytes.
const maxPage = 64 << 20

func charsetCommand() *cobra.Command {
	var contentType string
	var decode, jsonl bool
	cmd := &cobra.Command{
		Use:   "charset [flags] FILE",
		Short: "Tell which encoding a page is in, as a crawl finds it",
		Long: `Charset reads a page, from a file or from standard input (-), and prints the
encoding it is in, by its name in the Encoding Standard, and what told:

  bom       a byte order mark
  header    the charset of --content-type
  meta      a <meta> element
  xml       an XML declaration
  detected  the bytes themselves
  default   nothing: ASCII only, or bytes that look like no encoding

With --jsonl, FILE (default standard input) has one question a line, with an "id" if
you like, and each is answered with a line:

  {"html_b64", "content_type"}   {"id", "encoding", "source"}
  {"text_b64", "content_type"}   the same, for text in which no <meta> counts
  {"label"}                      {"id", "encoding"}
  {"encoding", "bytes_b64"}      {"id", "text"}, with U+FFFD for what means nothing

or with {"id", "error", "kind"} if it can't be. content_type may be left out.

Exit status: 0 it was told, or all were answered, whatever the answers; 1 the input or
the output broke off; 3 wrong usage.`,
		Example: `  weft charset page.html
  curl -s https://example.org/ | weft charset --content-type text/html -
  weft charset --decode page.html
  weft charset --jsonl < questions.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case jsonl && len(args) > 1:
				return usage("charset: %s given, expected with --jsonl one FILE or none", plural(len(args), "argument"))
			case jsonl && decode:
				return usage("charset: --decode, expected not with --jsonl")
			case !jsonl && len(args) != 1:
				return usage("charset: %s given, expected a FILE or - for standard input", plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if jsonl {
				return answerLines("charset", args, charsetQuestion.answer)
			}
			return tellCharset(args[0], contentType, decode)
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is told", func(f *pflag.FlagSet) {
		f.StringVar(&contentType, "content-type", "", "the `TYPE` that the page came with, such as text/html; charset=koi8-r (default none)")
		f.BoolVar(&decode, "decode", false, "print the page in UTF-8 instead (default not)")
		f.BoolVar(&jsonl, "jsonl", false, "read questions, one a line, and answer each with a line (default not)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

func tellCharset(path, contentType string, decode bool) error {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return usage("charset: %.128q: %w, expected a file or - for standard input", path, reason(err))
		}
		defer f.Close()
	}
	body, err := io.ReadAll(io.LimitReader(f, maxPage+1))
	switch {
	case err != nil:
		return usage("charset: %.128q: %w, expected a file that can be read", path, reason(err))
	case len(body) > maxPage:
		return &exit{exitError, fmt.Errorf("charset: %.128q: larger than %s", path, plural(maxPage, "byte"))}
	}
	e, source := charset.Determine(contentType, body)
	out := terminal(os.Stdout)
	if decode {
		_, err = out.Write(e.Decode(body))
	} else {
		_, err = fmt.Fprintf(out, "%s  %s\n", e.Name(), source)
	}
	return standardOutput(err)
}

// A charsetQuestion is a line of --jsonl.
type charsetQuestion struct {
	HTML        *string `json:"html_b64"`
	Text        *string `json:"text_b64"`
	ContentType string  `json:"content_type"`
	Label       *string `json:"label"`
	Encoding    *string `json:"encoding"`
	Bytes       *string `json:"bytes_b64"`
}

type charsetAnswer struct {
	Encoding string         `json:"encoding"`
	Source   charset.Source `json:"source,omitempty"`
}

func (q charsetQuestion) answer() (any, error) {
	switch {
	case q.Encoding != nil:
		e, err := encodingOf("encoding", *q.Encoding)
		if err != nil {
			return nil, err
		}
		body, err := fromBase64("bytes_b64", q.Bytes)
		if err != nil {
			return nil, err
		}
		return struct {
			Text string `json:"text"`
		}{string(e.Decode(body))}, nil
	case q.Label != nil:
		e, err := encodingOf("label", *q.Label)
		if err != nil {
			return nil, err
		}
		return charsetAnswer{Encoding: e.Name()}, nil
	case q.Text != nil:
		body, err := fromBase64("text_b64", q.Text)
		if err != nil {
			return nil, err
		}
		e, source := charset.Text(q.ContentType, body)
		return charsetAnswer{e.Name(), source}, nil
	}
	body, err := fromBase64("html_b64", q.HTML)
	if err != nil {
		return nil, err
	}
	e, source := charset.HTML(q.ContentType, body)
	return charsetAnswer{e.Name(), source}, nil
}

// encodingOf refuses a label that no encoding has.
func encodingOf(field, label string) (*charset.Encoding, error) {
	e := charset.Lookup(label)
	if e == nil {
		return nil, refuse(field, "%.128q is no label of an encoding, expected one such as utf-8 or latin1", label)
	}
	return e, nil
}
