package diff

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Format is a format of reports.
type Format struct {
	Name       string
	Extensions []string // of files
	write      func(io.Writer, *Report, Style) error
}

// Write writes a report.
func (f Format) Write(w io.Writer, r *Report, s Style) error { return f.write(w, r, s) }

var formats = []Format{
	{"text", []string{".txt"}, writeText},
	{"json", []string{".json", ".jsonl", ".ndjson"}, writeJSON},
	{"markdown", []string{".md", ".markdown"}, writeMarkdown},
	{"html", []string{".html", ".htm"}, writeHTML},
	{"atom", []string{".atom", ".xml"}, writeAtom},
	{"mail", []string{".eml"}, writeMail},
}

// Formats returns the formats: text for people, lines of JSON and so on.
func Formats() []Format { return formats }

// FormatOf returns the format with a name, or, if that is "", of a file: text if it is "" or "-".
func FormatOf(name, file string) (Format, error) {
	ext := strings.ToLower(filepath.Ext(file))
	if name == "" && (file == "" || file == "-") {
		name = "text"
	}
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
		for _, one := range f.Extensions {
			if name == "" && one == ext {
				return f, nil
			}
		}
	}
	if name != "" {
		return Format{}, fmt.Errorf("%.64q: no format of reports", name)
	}
	return Format{}, fmt.Errorf("%.128q: its end names no format", file)
}
