package content

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// layouts are the forms of dates on the Web.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02", "2006-01", "2006/01", "20060102", "January 2, 2006", "Jan 2, 2006", "Jan. 2, 2006",
	"2 January 2006", "2 Jan 2006", "Monday, January 2, 2006", "Monday, 2 January 2006", "January 2, 2006 3:04 PM", "Jan 2, 2006 3:04 PM", "January 2, 2006, 3:04 pm", "02.01.2006", "2.1.2006", "1/2/2006",
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, "Mon, 2 Jan 2006 15:04:05 -0700", "2006-01-02T15:04:05.000-0700", "2006",
}

// date reads a date. A date without a zone is read as UTC.
func date(s string) time.Time {
	s = strings.TrimSpace(s)
	if len(s) < 4 || len(s) > 40 {
		return time.Time{}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil && isLikely(t) {
			return t
		}
	}
	return time.Time{}
}

// isLikely reports whether a page may be of a day. Programs that know no date say 1 January 1970.
func isLikely(t time.Time) bool {
	return t.Year() > 1900 && t.Year() < 2200 && t.Format(time.DateOnly) != "1970-01-01"
}

// dayIn is the day that a short text names, as a date, or "".
func dayIn(text string) string {
	if len(text) > 400 || !strings.Contains(text, "19") && !strings.Contains(text, "20") {
		return ""
	}
	for _, found := range days().FindAllString(text, 3) {
		if !day(found).IsZero() {
			return day(found).Format(time.DateOnly)
		}
	}
	return ""
}

// days are the words that may be a day in a text.
var days = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}|` +
		`[a-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}(?:st|nd|rd|th)?\.? [a-z]{3,9}\.?,? \d{4})\b`)
})

// ordinals are the endings behind the number of a day.
var ordinals = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d)(?:st|nd|rd|th)\b`) })

// day reads a day that is written for people.
func day(s string) time.Time {
	s = strings.TrimSpace(s)
	if len(s) < 8 || len(s) > 30 || !strings.ContainsAny(s, "0123456789") {
		return time.Time{}
	}
	s = strings.NewReplacer(".", " ", ",", " ", "/", "-").Replace(ordinals().ReplaceAllString(s, "$1"))
	s = strings.Join(strings.Fields(s), " ")
	for _, layout := range [...]string{"2006-1-2", "2006 1 2", "2 1 2006", "1-2-2006", "January 2 2006", "Jan 2 2006", "2 January 2006", "2 Jan 2006"} {
		if t, err := time.Parse(layout, s); err == nil && isLikely(t) {
			return t
		}
	}
	return time.Time{}
}
