package check

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

var formats = []Format{
	{"text", "for people: problems, or findings by page or target", ".txt", writeText},
	{"csv", "a line a finding, for spreadsheets", ".csv", writeCSV},
	{"json", "one object: totals, problems, findings", ".json", writeJSON},
	{"junit", "JUnit XML, for CI servers", ".xml", writeJUnit},
	{"sarif", "SARIF 2.1.0, for code scanning", ".sarif", writeSARIF},
	{"markdown", "for summaries and issues", ".md", writeMarkdown},
	{"html", "one page for browsers: charts, tables that sort and filter", ".html", writeHTML},
	{"github", "workflow commands of GitHub Actions: annotations", "", writeGitHub},
}

// Formats returns the formats of reports.
func Formats() []Format { return slices.Clone(formats) }

// FormatOf returns the format of a name, or, with no name, of a file by the end of its own: text,
// if it has none. Errors: there is no such format, or no format for such files.
func FormatOf(name, file string) (Format, error) {
	end := filepath.Ext(file)
	var all, ends []string
	for _, f := range formats {
		if f.Name == name || name == "" && f.Extension != "" && strings.EqualFold(end, f.Extension) {
			return f, nil
		}
		all = append(all, f.Name)
		if f.Extension != "" {
			ends = append(ends, f.Extension)
		}
	}
	switch {
	case name == "" && end == "":
		return formats[0], nil
	case name == "":
		return Format{}, fmt.Errorf("file %.64q, expected one that ends in %s, or a format", file, strings.Join(ends, ", "))
	}
	return Format{}, fmt.Errorf("format %.64q, expected one of %s", name, strings.Join(all, ", "))
}
