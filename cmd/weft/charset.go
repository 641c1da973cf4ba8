package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/internal/charset"
)

// maxText is the largest page that weft charset reads without --max-body, in bytes.
const maxText = 64 << 20

// charsetFlags are the options of weft charset.
type charsetFlags struct {
	client        clientFlags
	contentType   string
	decode, jsonl bool
	redirects     int
}

func charsetCommand() *cobra.Command {
	f := charsetFlags{redirects: 10}
	cmd := &cobra.Command{
		Use:     "charset [flags] FILE|URL",
		Short:   "Detect a page's character encoding",
		GroupID: sectionURL,
		Long: `Read a page from a file, standard input (-) or the Web and print its encoding
(the name in the Encoding Standard) and where that comes from:

  bom       a byte order mark
  header    the charset of the response, or of --content-type
  meta      a <meta> element
  xml       an XML declaration
  detected  the bytes of the text
  default   none: ASCII only, or bytes of no known encoding`,
		Annotations: detailed(`
Redirects are followed; robots.txt is not read.

With --jsonl, FILE (default: standard input) holds one question per line, with
an "id" of any kind. Each line is answered with one line:

  {"html_b64", "content_type"}   {"id", "encoding", "source"}
  {"text_b64", "content_type"}   the same, for text without <meta>
  {"label"}                      {"id", "encoding"}
  {"encoding", "bytes_b64"}      {"id", "text"}, with U+FFFD for invalid bytes

or with {"id", "error", "kind"}. content_type is optional.

Exit status: 0 all questions answered, whatever the answers; 1 input or output
failed, or the page has a status other than 2xx; 3 usage error; 5 interrupted.`),
		Example: `  weft charset https://example.org/
  weft charset --content-type 'text/html; charset=koi8-r' page.html
  weft charset --decode page.html
  weft charset --jsonl < questions.jsonl`,
		Args: orJSONL(&f.jsonl, "page", arguments(1, 1, "page", "one FILE or URL")),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case f.jsonl && f.decode:
				return usage("charset: --decode and --jsonl: expected one of them")
			case f.jsonl:
				return answerLines("charset", args, charsetQuestion.answer)
			}
			return f.print(args[0])
		},
	}
	define(cmd, append([]group{{"Question", []option{
		{name: "content-type", arg: "TYPE", Value: to(&f.contentType, anyText),
			help: "the page's type, as in text/html; charset=koi8-r",
			more: "Default: the type it comes with."},
		{name: "decode", Value: on(&f.decode), help: "print the page in UTF-8 instead"},
		jsonlOption(&f.jsonl),
		redirectsOption(&f.redirects, "follow at most N redirects"),
	}}}, f.client.groups("64MiB")...)...)
	return cmd
}

func (f *charsetFlags) print(arg string) error {
	p, err := f.client.readPage("charset", arg, maxText, f.redirects)
	if err != nil {
		return err
	}
	e, source := charset.Determine(cmp.Or(f.contentType, p.contentType), p.body)
	out := terminal(os.Stdout)
	if f.decode {
		_, err = out.Write(e.Decode(p.body))
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
