package sitemap

import (
	"strconv"
	"strings"
	"time"
)

// layouts are the forms of https://www.w3.org/TR/NOTE-datetime and common variants.
var layouts = []string{
	time.DateOnly, time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700", "2006-01-02T15:04:05Z07", "2006-01", "2006",
}

// feedLayouts are the forms of RFC 822 and its successors, without the day of the week.
var feedLayouts = []string{
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700", "2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700", "2 Jan 2006",
}

// zones are the names of RFC 822, section 5.1.
var zones = map[string]string{
	"GMT": "+0000", "UT": "+0000", "UTC": "+0000", "Z": "+0000", "EST": "-0500", "EDT": "-0400",
	"CST": "-0600", "CDT": "-0500", "MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// parseTime reads a date in any form that sitemaps and feeds use. Missing parts take their
// least value, a missing zone is UTC. The result is zero if the text is no date.
func parseTime(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	if _, date, ok := strings.Cut(text, ","); ok {
		text = strings.TrimSpace(date) // without the day of the week
	}
	forms := layouts
	if _, err := strconv.Atoi(text[:min(len(text), 4)]); err == nil {
		text = strings.Replace(strings.Replace(strings.ToUpper(text), " ", "T", 1), " ", "", 1)
	} else {
		forms = feedLayouts
		at := strings.LastIndexByte(text, ' ') + 1
		if offset, ok := zones[strings.ToUpper(text[at:])]; ok {
			text = text[:at] + offset
		}
	}
	for _, form := range forms {
		if len(form) <= len(time.DateOnly) && len(form) != len(text) {
			continue // an error from time.Parse costs an allocation
		}
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
