package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // for machines and images without time zones

	"github.com/weftcrawl/weft/diff"
	"github.com/weftcrawl/weft/internal/config"
	"github.com/weftcrawl/weft/internal/schedule"
	"github.com/weftcrawl/weft/internal/serve"
)

// compares returns the command that prints the changes of a visit. It runs in the folder of the
// job, whose path is not for those who read the changes.
func compares(self string) func(job string, visit int) []string {
	return func(job string, visit int) []string {
		return []string{self, "diff", "--no-config", "--visits", fmt.Sprintf("%d..%d", visit-1, visit), "--format", "json", filepath.Base(job)}
	}
}

// mostNoticed bounds the changes of each kind that a notice has.
const mostNoticed = 100

// notice writes changes as a mail.
func notice(w io.Writer, changes, to string) error { return reported(w, changes, "mail", to) }

// reporter writes changes in all formats.
func reporter() serve.Reporter {
	r := serve.Reporter{Write: func(w io.Writer, changes, format string) error { return reported(w, changes, format, "") }}
	for _, f := range diff.Formats() {
		r.Formats = append(r.Formats, f.Name)
	}
	return r
}

// reported writes the changes of a file in a format, of which a mail has addresses.
func reported(w io.Writer, changes, format, to string) error {
	form, err := diff.FormatOf(format, "")
	if err != nil {
		return err
	}
	file, err := os.Open(changes)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := diff.Read(file, filepath.Dir(changes))
	if err != nil {
		return err
	}
	defer report.Close()
	// A mail that is sent once more has the date and the name that it had.
	return form.Write(w, report, diff.Style{Limit: mostNoticed, To: to, Date: report.Summary.New.To})
}

// scheduleTable is the table of a file that says when weft serve visits its crawl again.
const scheduleTable = "schedule"

// ofSchedule reports whether an option of a file is part of that table.
func ofSchedule(o config.Option) bool { return o.Command == scheduleTable && o.Profile == "" }

// checkSchedule checks the table of a file that has one, and returns the line of a mistake.
func checkSchedule(options []config.Option) (line int, err error) {
	table := make(map[string]any)
	for _, o := range options {
		if !ofSchedule(o) {
			continue
		}
		line = o.Line
		var value any = o.Values
		switch {
		case o.List:
			all := make([]any, len(o.Values))
			for i, v := range o.Values {
				all[i] = v
			}
			value = all
		case len(o.Values) == 1:
			value = o.Values[0]
		}
		table[o.Name] = value
		if _, _, err := schedule.FromTable(map[string]any{o.Name: value}); err != nil {
			return line, err
		}
	}
	if len(table) == 0 {
		return 0, nil
	}
	rule, n, err := schedule.FromTable(table)
	if err == nil {
		_, err = rule.Compile("", time.Now())
	}
	if err == nil {
		err = n.Check()
	}
	return line, err
}
