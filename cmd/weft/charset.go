package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/internal/charset"
)

// maxPage bounds the file that weft charset reads, in bytes.
const maxPage = 64 << 20

// charsetFlags are the options of weft charset.
type charsetFlags struct {
	contentType   string
	decode, jsonl bool
}

func charsetCommand() *cobra.Command {
	var f charsetFlags
	cmd := &cobra.Command{
		Use:     "charset [flags] FILE",
		Short:   "Detect a page's character encoding",
		GroupID: sectionURL,
		Long: `Read a page from a file or standard input (-) and print its encoding (the name
in the Encoding Standard) and where that comes from:

  bom       a byte order mark
  header    the charset of --content-type
  meta      a <meta> element
  xml       an XML declaration
  detected  the bytes of the text
  default   none: ASCII only, or bytes of no known encoding`,
		Annotations: detailed(`
With --jsonl, FILE (default: standard input) holds one question per line, with
an "id" of any kind. Each line is answered with one line:

  {"html_b64", "content_type"}   {"id", "encoding", "source"}
  {"text_b64", "content_type"}   the same, for text without <meta>
  {"label"}                      {"id", "encoding"}
  {"encoding", "bytes_b64"}      {"id", "text"}, with U+FFFD for invalid bytes

or with {"id", "error", "kind"}. content_type is optional.

Exit status: 0 all questions answered, whatever the answers; 1 input or output
failed; 3 usage error.`),
		Example: `  weft charset page.html
  curl -s https://example.org/ | weft charset --content-type text/html -
  weft charset --decode page.html
  weft charset --jsonl < questions.jsonl`,
		Args: orJSONL(&f.jsonl, "argument",
			arguments(1, 1, "argument", "a FILE or - for standard input")),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case f.jsonl && f.decode:
				return usage("charset: --decode and --jsonl: expected one of them")
			case f.jsonl:
				return answerLines("charset", args, charsetQuestion.answer)
			}
			return printCharset(args[0], f.contentType, f.decode)
		},
	}
	define(cmd, group{"Question", []option{
		{name: "content-type", arg: "TYPE", Value: to(&f.contentType, anyText),
			help: "the page's type, as in text/html; charset=koi8-r"},
		{name: "decode", Value: on(&f.decode), help: "print the page in UTF-8 instead"},
		jsonlOption(&f.jsonl),
	}})
	return cmd
}

func printCharset(path, contentType string, decode bool) error {
	body, err := readSource("charset", path, fileOrInput, maxPage, "")
	if err != nil {
		return err
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

// charsetQuestion is a line of --jsonl.
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

// encodingOf returns the encoding with a label, or a refusal.
func encodingOf(field, label string) (*charset.Encoding, error) {
	e := charset.Lookup(label)
	if e == nil {
		return nil, refuse(field,
			"%.128q: unknown label, expected the label of an encoding, such as utf-8 or latin1", label)
	}
	return e, nil
}
