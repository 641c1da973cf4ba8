package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05Z07:00", text)
	if err != nil {
		panic(err)
	}
	return t
}

func compiled(t *testing.T, r Rule) *Timetable {
	t.Helper()
	table, err := r.Compile("a", at("2026-01-01 00:30:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// times are the next n times of a rule.
func times(t *Timetable, after time.Time, n int) string {
	var all []string
	for range n {
		after = t.Next(after)
		all = append(all, after.In(t.zone).Format("2 15:04 -0700"))
	}
	return strings.Join(all, ", ")
}

// TestTimes: those of an interval count from its beginning; those of a cron expression are of the
// clock on the wall, and a change of that clock makes none fall out or come twice.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		rule  Rule
		after string
		want  string
	}{
		{Rule{Every: "6h"}, "2026-01-01 00:30:00Z", "1 06:30 +0000, 1 12:30 +0000, 1 18:30 +0000"},
		{Rule{Every: "6h"}, "2026-01-01 12:30:01Z", "1 18:30 +0000"},
		{Rule{Every: "1.5d"}, "2026-01-01 00:30:00Z", "2 12:30 +0000"},
		{Rule{Every: "6h"}, "2025-12-31 00:00:00Z", "31 00:30 +0000, 31 06:30 +0000"},
		{Rule{Cron: "0 3 * * 1-5"}, "2026-01-02 03:00:00Z", "5 03:00 +0000, 6 03:00 +0000"},
		{Rule{Cron: "0 3 * * 7"}, "2026-01-02 03:00:00Z", "4 03:00 +0000, 11 03:00 +0000"},
		{Rule{Cron: "@daily"}, "2026-01-02 03:00:00Z", "3 00:00 +0000"},
		{Rule{Cron: "0 0 29 2 *"}, "2026-01-02 03:00:00Z", "29 00:00 +0000"},
		{Rule{Cron: "0 3 * * *", Zone: "Asia/Kathmandu"}, "2026-01-01 22:00:00Z", "3 03:00 +0545"},

		// 2:00 is followed by 3:00.
		{Rule{Cron: "30 2 * * *", Zone: "Europe/Berlin"}, "2026-03-28 00:00:00Z", "28 02:30 +0100, 29 03:00 +0200, 30 02:30 +0200"},
		{Rule{Cron: "*/30 * * * *", Zone: "Europe/Berlin"}, "2026-03-29 00:00:00Z", "29 01:30 +0100, 29 03:00 +0200, 29 03:30 +0200"},
		{Rule{Cron: "0 2,3 * * *", Zone: "Europe/Berlin"}, "2026-03-29 00:00:00Z", "29 03:00 +0200, 30 02:00 +0200"},
		// 3:00 is followed by 2:00.
		{Rule{Cron: "30 2 * * *", Zone: "Europe/Berlin"}, "2026-10-24 12:00:00Z", "25 02:30 +0200, 26 02:30 +0100"},
		{Rule{Cron: "30 2 * * *", Zone: "Europe/Berlin"}, "2026-10-25 01:10:00Z", "26 02:30 +0100"},
		{Rule{Cron: "0 * * * *", Zone: "Europe/Berlin"}, "2026-10-24 23:30:00Z", "25 02:00 +0200, 25 03:00 +0100, 25 04:00 +0100"},
		// Midnight is skipped; a day is; half an hour is twice.
		{Rule{Cron: "0 0 * * *", Zone: "Africa/Cairo"}, "2026-04-23 12:00:00Z", "24 01:00 +0300, 25 00:00 +0300"},
		{Rule{Cron: "0 12 * * *", Zone: "Pacific/Apia"}, "2011-12-29 12:00:00Z", "29 12:00 -1000, 31 00:00 +1400, 31 12:00 +1400"},
		{Rule{Cron: "45 1 * * *", Zone: "Australia/Lord_Howe"}, "2026-04-04 00:00:00Z", "5 01:45 +1100, 6 01:45 +1030"},
	} {
		if got := times(compiled(t, c.rule), at(c.after), strings.Count(c.want, ",")+1); got != c.want {
			t.Errorf("%+v after %s: %s, expected %s", c.rule, c.after, got, c.want)
		}
	}
}

// TestNext: in all zones and through all changes of the clock, times come one after another, each
// later than the moment that was asked for.
func TestNext(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Tehran", "Pacific/Apia", "Antarctica/Troll", "Australia/Lord_Howe"} {
		for _, expression := range []string{"*/20 * * * *", "30 1-3 * * *", "59 23 * * *", "0 0 * * *"} {
			table := compiled(t, Rule{Cron: expression, Zone: zone})
			now := at("2026-01-01 00:00:00Z")
			if zone == "Pacific/Apia" {
				now = at("2011-01-01 00:00:00Z")
			}
			days := make(map[string]int)
			for end := now.AddDate(1, 0, 0); now.Before(end); {
				next := table.Next(now)
				if mid := table.Next(next.Add(-time.Second)); !next.After(now) || !mid.Equal(next) {
					t.Fatalf("%s %s: %s after %s, and %s a second earlier", zone, expression, next, now, mid)
				}
				// Between two times, and in an hour that comes twice, too.
				for _, late := range []time.Duration{time.Minute, 31 * time.Minute, 61 * time.Minute} {
					if from := next.Add(late); !table.Next(from).After(from) {
						t.Fatalf("%s %s: %s after %s", zone, expression, table.Next(from), from)
					}
				}
				now = next
				days[now.In(table.zone).Format(time.DateOnly)]++
			}
			if least := 363; len(days) < least {
				t.Errorf("%s %s: %d days", zone, expression, len(days))
			}
		}
	}
}

// life plays the looks of a server: each at a moment, "busy" while a crawl runs, "up" when the
// server has just come up. It returns those at which a visit begins.
func life(table *Timetable, looks ...string) string {
	var planned, up, last time.Time
	var begun []string
	for _, look := range looks {
		moment, how, _ := strings.Cut(look, " ")
		now := at("2026-06-0" + strings.Replace(moment, "T", " ", 1) + "Z")
		if how == "up" {
			up = now
		}
		if how == "up" || now.Before(last) {
			planned = table.Mend(planned, now)
		}
		last = now
		var begins bool
		if planned, begins = table.Look(planned, now, up, how == "busy"); begins {
			begun = append(begun, moment)
		}
	}
	return strings.Join(begun, " ")
}

// TestVisits: a visit begins when it is due, once; those missed are caught up by one or by none;
// neither a clock that is set forward nor one that is set back brings more.
func TestVisits(t *testing.T) {
	once, skip := Rule{Every: "6h"}, Rule{Every: "6h", Missed: MissedSkip} // at 0:30, 6:30, …
	for _, c := range []struct {
		name  string
		rule  Rule
		looks []string
		want  string
	}{
		{"in time", once, []string{"1T00:31:00 up", "1T06:29:59", "1T06:30:00", "1T06:30:01", "1T12:29:59", "1T12:30:02"}, "1T06:30:00 1T12:30:02"},
		{"down, once", once, []string{"1T00:31:00 up", "2T11:00:00 up", "2T11:00:01", "2T12:29:00", "2T12:30:00"}, "2T11:00:00 2T12:30:00"},
		{"down, skip", skip, []string{"1T00:31:00 up", "2T11:00:00 up", "2T11:00:01", "2T12:29:00", "2T12:30:00"}, "2T12:30:00"},
		{"busy, once", once, []string{"1T00:31:00 up", "1T06:30:00 busy", "1T12:30:00 busy", "1T13:00:00", "1T13:00:01", "1T18:30:00"}, "1T13:00:00 1T18:30:00"},
		{"busy, skip", skip, []string{"1T00:31:00 up", "1T06:30:00 busy", "1T07:00:00", "1T12:30:00"}, "1T12:30:00"},
		{"set forward", skip, []string{"1T00:31:00 up", "5T00:31:00", "5T00:31:01", "5T06:29:00", "5T06:30:00"}, "5T00:31:00 5T06:30:00"},
		{"set back a little", once, []string{"1T00:31:00 up", "1T06:30:00", "1T06:29:58", "1T06:30:00", "1T06:31:00", "1T12:30:00"}, "1T06:30:00 1T12:30:00"},
		{"set back far", once, []string{"5T00:31:00 up", "5T06:30:00", "1T00:31:00", "1T06:29:00", "1T06:30:00", "1T06:30:01"}, "5T06:30:00 1T06:30:00"},
		{"set back while down", once, []string{"5T00:31:00 up", "5T06:30:00", "1T00:31:00 up", "1T06:30:00", "1T06:30:01"}, "5T06:30:00 1T06:30:00"},
	} {
		if got := life(compiled(t, c.rule), c.looks...); got != c.want {
			t.Errorf("%s: visits at %s, expected %s", c.name, got, c.want)
		}
	}
}

// TestJitter: it spreads the crawls, is that of a crawl and a time, and loses no visit.
func TestJitter(t *testing.T) {
	since := at("2026-01-01 00:00:00Z")
	seen := make(map[time.Time]bool)
	for i := range 200 {
		r := Rule{Every: "1h", Jitter: "1h"}
		table, err := r.Compile(fmt.Sprint(i), since)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := r.Compile(fmt.Sprint(i), since)
		due := table.Due(since)
		if late := due.Sub(since); late < 0 || late >= time.Hour || !again.Due(since).Equal(due) {
			t.Errorf("%s late", late)
		}
		seen[due.Truncate(time.Minute)] = true
	}
	if len(seen) < 40 {
		t.Errorf("200 crawls in %d minutes", len(seen))
	}
	table := compiled(t, Rule{Every: "1h", Jitter: "1h"})
	clear(seen)
	for i := range 50 {
		at := since.Add(time.Duration(i) * time.Hour)
		seen[since.Add(table.Due(at).Sub(at))] = true
	}
	if len(seen) < 25 {
		t.Errorf("50 visits of a crawl are late by %d times", len(seen))
	}
	visits, planned := 0, table.Next(since)
	for now := since; now.Before(since.Add(1000 * time.Hour)); now = now.Add(time.Minute) {
		var begins bool
		if planned, begins = table.Look(planned, now, since, false); begins {
			visits++
		}
	}
	if visits < 999 || visits > 1000 {
		t.Errorf("%d visits in 1000 hours", visits)
	}
}

// TestRefused: a rule that never has a time, or that is none, has an error which says what was
// expected, and takes no time.
func TestRefused(t *testing.T) {
	for want, rules := range map[string][]Rule{
		"expected every":        {{}, {Zone: "UTC"}, {Missed: "once"}},
		"expected one of them":  {{Every: "1h", Cron: "@daily"}},
		"from 1s to 366d":       {{Every: "1ns"}, {Every: "0"}, {Every: "-6h"}, {Every: "100000000000000000000h"}, {Every: "367d"}, {Every: "NaNd"}, {Every: "infd"}, {Every: "x"}, {Every: "d"}, {Every: "6"}},
		"expected five":         {{Cron: "* * * * * *"}, {Cron: "*"}, {Cron: " "}, {Cron: "TZ=UTC"}, {Cron: "CRON_TZ=UTC 0 3 * * *"}},
		"within five years":     {{Cron: "0 0 30 2 *"}, {Cron: "0 0 31 4,6,9,11 *"}},
		"at most 100":           {{Cron: strings.Repeat("1,", 5<<20) + "1 * * * *"}, {Every: strings.Repeat("9", 10<<20) + "h"}, {Every: "1h", Missed: strings.Repeat("x", 101)}},
		"above maximum":         {{Cron: "0-999999 * * * *"}, {Cron: "0 24 * * *"}},
		"expected numbers":      {{Cron: ",, * * * *"}, {Cron: "1,,2 * * * *"}, {Cron: "TZ=../x 3 * * *"}, {Cron: "\x1b[31m * * * *"}},
		"@daily":                {{Cron: "@every 1ns"}, {Cron: "@reboot"}, {Cron: "@daily "}},
		"cron = ":               {{Cron: "*/0 * * * *"}, {Cron: "*/-1 * * * *"}, {Cron: "99999999999999999999 * * * *"}, {Cron: "L * * * *"}},
		"name of a time zone":   {{Cron: "@daily", Zone: "../../etc/passwd"}, {Cron: "@daily", Zone: "/etc/localtime"}, {Cron: "@daily", Zone: "Local"}, {Cron: "@daily", Zone: "Europe/Nowhere"}, {Cron: "@daily", Zone: "tzdata.zi"}, {Cron: "@daily", Zone: "Europe"}},
		"together with cron":    {{Every: "1h", Zone: "Europe/Berlin"}},
		"jitter = ":             {{Every: "1h", Jitter: "2h"}, {Every: "1h", Jitter: "-1s"}, {Every: "1h", Jitter: "x"}, {Cron: "*/10 * * * *", Jitter: "11m"}, {Every: "300d", Jitter: "25h"}},
		"expected once or skip": {{Every: "1h", Missed: "twice"}},
	} {
		for _, r := range rules {
			began := time.Now()
			_, err := r.Compile("a", began)
			if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%.80v: %v, expected %s", r, err, want)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%.80v: %s", r, took)
			}
		}
	}
	for jitter, want := range map[string]time.Duration{"": time.Hour, "50m": 10 * time.Minute} {
		if got := compiled(t, Rule{Cron: "0 0,23 * * *", Jitter: jitter}).Shortest(); got != want {
			t.Errorf("with a jitter of %q, the shortest time is %s, expected %s", jitter, got, want)
		}
	}
}

// TestTable: a mistake in the table is named, with the key that is meant.
func TestTable(t *testing.T) {
	for want, table := range map[string]map[string]any{
		"did you mean every?":             {"evry": "6h"},
		"expected one of every, cron":     {"when": "6h"},
		`every: expected a text, such`:    {"every": int64(6)},
		"notify: expected a command":      {"every": "6h", "notify": "sh -c 'sendmail -t'"},
		"notify: expected a command s":    {"every": "6h", "notify": " "},
		"notify: expected a command su":   {"every": "6h", "notify": []any{}},
		"notify: expected a command suc":  {"every": "6h", "notify": []any{""}},
		"notify: expected a command such": {"every": "6h", "notify": []any{"a", int64(1)}},
		`mail_to: "me", expected`:         {"every": "6h", "notify": "sendmail -t", "mail_to": "me"},
		"expected mail_to, too":           {"every": "6h", "notify": "/usr/sbin/sendmail -t"},
		"expected together with notify":   {"every": "6h", "mail_to": "me@example.org"},
	} {
		_, n, err := FromTable(table)
		if err == nil {
			err = n.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, expected %s", table, err, want)
		}
	}
	for _, notify := range []any{"sendmail  -t", []any{"sendmail", "-t"}} {
		r, n, err := FromTable(map[string]any{"cron": "@daily", "zone": "UTC", "notify": notify, "mail_to": "me@a.test, you@a.test"})
		if err != nil || n.Check() != nil || r != (Rule{Cron: "@daily", Zone: "UTC"}) || strings.Join(n.Command, "|") != "sendmail|-t" {
			t.Errorf("%+v, %+v, %v", r, n, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("*/5 1-3 * * 1-5", "Europe/Berlin", "1h")
	f.Add("@daily", "../x", "10d")
	f.Fuzz(func(t *testing.T, cron, zone, every string) {
		for _, r := range []Rule{{Cron: cron, Zone: zone}, {Every: every, Jitter: every}} {
			table, err := r.Compile("a", at("2026-01-01 00:00:00Z"))
			if err != nil {
				continue
			}
			now := at("2026-03-28 00:00:00Z")
			for range 20 {
				next := table.Next(now)
				if !next.After(now) {
					t.Fatalf("%+v: %s after %s", r, next, now)
				}
				now = next
			}
		}
	})
}
