package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/golden"
)

// checkJSONLog expects one object per line, and given numbers of messages.
func checkJSONLog(t *testing.T, text string, want map[string]int) {
	t.Helper()
	got := make(map[string]int)
	for line := range strings.Lines(text) {
		var entry struct{ Time, Level, Msg, Event string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" || entry.Event == "" {
			t.Errorf("%s: %v", line, err)
		}
		got[entry.Msg]++
	}
	for msg, n := range want {
		if got[msg] != n {
			t.Errorf("%d messages %q, expected %d: %s", got[msg], msg, n, text)
		}
	}
}

const hostile = "evil\x1b[2J\u202e\u009b31m\n.test"

func TestReport(t *testing.T) {
	types := map[string]weft.Count{"text/html": {URLs: 1100, Bytes: 20e6}, "": {URLs: 2, Bytes: 10}, hostile: {URLs: 1, Bytes: 5}}
	for i := range 12 {
		types["application/x-"+string(rune('a'+i))] = weft.Count{URLs: 1, Bytes: 1000}
	}
	lost := []weft.Broken{{URL: "http://" + hostile + "/", ErrorKind: "dns", Error: "no such host", From: "http://a.test/" + hostile}}
	for i := range 10 {
		lost = append(lost, weft.Broken{URL: fmt.Sprintf("http://a.test/%d", i), Status: 404, From: "http://a.test/"})
	}
	lost = append(lost, weft.Broken{URL: "http://a.test/start", Status: 499})
	r := report{weft.Summary{
		Elapsed: 12345 * time.Millisecond, Counters: weft.Counters{Done: 1234, Pages: 1100, Redirects: 30, Bytes: 23456789, Pending: 99, OverLimit: 7, OverVariants: 1234},
		Statuses:     map[int]weft.Count{200: {URLs: 1150, Bytes: 23e6}, 404: {URLs: 57, Bytes: 2000}, 499: {URLs: 1}, 301: {URLs: 30, Bytes: 9000}},
		ContentTypes: types,
		Errors:       map[string]weft.Count{"dns": {URLs: 3}, "timeout": {URLs: 12, Bytes: 34567}},
		NotFollowed:  map[string]int{"scope": 2345, hostile: 1},
		Opened:       []string{"www.a.test", hostile, "b.test", "c.test"},
		FirstError:   "http://" + hostile + "/: no such host",
		Slowest: []weft.Record{
			{URL: "http://a.test/slow", Status: 200, TotalMS: 12345},
			{URL: "http://a.test/" + hostile, Status: 404, TotalMS: 345},
		},
		Broken:       lost,
		ScriptCounts: weft.ScriptCounts{Rendered: 35, NotRendered: 3},
		Unrendered:   []weft.Unrendered{{Kind: "crash", Pages: 2, First: "http://a.test/x"}, {Kind: "time", Pages: 1}},
		Stopped:      "limit",
	}, "a.test.weft", []string{"a.test.weft/pages.jsonl", "out.csv"}, false, false}
	golden.Equal(t, "testdata/report.txt", r.String())
	golden.Equal(t, "testdata/report-empty.txt", report{summary: weft.Summary{Interrupted: true}, job: "a.test.weft"}.String())
	golden.Equal(t, "testdata/report-failed.txt", report{summary: weft.Summary{Counters: weft.Counters{Done: 3, Pending: 12}}, job: "a.test.weft", failed: true}.String())
}

// TestMeter: rates are averaged over the last seconds only.
func TestMeter(t *testing.T) {
	var m meter
	var s sample
	for i := range 101 { // 10 a second for 10 s, then 100
		at, done := time.Duration(i)*200*time.Millisecond, 2*i
		if i > 50 {
			done = 100 + 20*(i-50)
		}
		s = m.sample(weft.Stats{Elapsed: at, Counters: weft.Counters{Done: done, Pages: done / 2, Pending: 950, InFlight: 50, Bytes: int64(done) * 1000}})
		if i == 50 && (s.urlRate < 9.9 || s.urlRate > 10.1) {
			t.Errorf("%.1f URLs a second in the beginning, expected 10", s.urlRate)
		}
	}
	if s.pageRate < 49 || s.pageRate > 51 {
		t.Errorf("%.1f pages a second, expected 50", s.pageRate)
	}
	if s.urlRate < 99 || s.urlRate > 101 || s.byteRate < 99_000 || s.byteRate > 101_000 {
		t.Errorf("%.1f URLs and %.0f bytes a second; expected 100 and 100,000", s.urlRate, s.byteRate)
	}
	if len(m.past) > 30 {
		t.Errorf("%d samples are kept", len(m.past))
	}
}

func TestInWords(t *testing.T) {
	for want, e := range map[string]weft.Estimate{
		"":                                   {},
		"about 4m39s left":                   {Left: 278500 * time.Millisecond, NewPerURL: 0.5},
		"about 1h00m left for http://a.test": {Left: time.Hour, Bound: "http://a.test"},
		"about 10s left by --limit":          {Left: 10 * time.Second, Bound: "limit", NewPerURL: 3},
		"growing: 12 new URLs per URL, no end in sight": {NewPerURL: 12.3, Growing: true},
	} {
		if got := inWords(e); got != want {
			t.Errorf("%+v: %q, expected %q", e, got, want)
		}
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// running is a crawl in progress, with a host whose name is hostile, and two that back off.
var running = sample{
	stats: weft.Stats{
		Estimate:  weft.Estimate{Left: 279 * time.Second},
		Status4xx: 1234, Status5xx: 5,
		Elapsed: 754 * time.Second, Counters: weft.Counters{Done: 123456, Pages: 110000, Redirects: 2345, Failed: 67, Pending: 45678, InFlight: 64, Hosts: 12, Bytes: 3456789012},
		Slowest: []frontier.OriginStat{
			{Origin: "fifth.test", Pending: 3, BackOff: noon.Add(time.Hour), Why: "robots.txt: status 500"},
			{Origin: strings.Repeat("long-label.", 20) + "test", Pending: 1234, Leased: 1, Took: 2 * time.Second, BackOff: noon.Add(34100 * time.Millisecond), Why: "503, Retry-After 120 s"},
			{Origin: "日本語.test", Pending: 1, Leased: 1, Took: 345 * time.Millisecond},
			{Origin: hostile, Pending: 12, Leased: 2, Took: 12345 * time.Millisecond},
			{Origin: "fourth.test", BackOff: noon},
		},
		Longest: []weft.InFlight{
			{URL: hostile + "/hang", For: 93400 * time.Millisecond, Try: 2},
			{URL: "http://fifth.test/robots.txt", For: 7 * time.Second, Try: 1},
			{URL: "the address of sixth.test", For: 5 * time.Second, Try: 1},
		},
	},
	at:      noon,
	urlRate: 163.7, pageRate: 145.2, byteRate: 4.58e6,
}

// ending is a crawl that waits for its last fetches.
var ending = sample{stats: weft.Stats{
	Elapsed: 754 * time.Second, Counters: weft.Counters{InFlight: 12, Pending: 3}, Ending: true, EndsIn: 7100 * time.Millisecond,
}}

// held is a crawl that could end if the disk had room for its last records.
var held = sample{stats: weft.Stats{Ending: true, Paused: []string{"the disk is full"}}}

func TestProgressLine(t *testing.T) {
	golden.Equal(t, "testdata/progress.txt", running.String()+"\n"+sample{}.String()+"\n"+ending.String()+"\n"+held.String()+"\n")
	var b bytes.Buffer
	jsonVoice{slog.New(slog.NewJSONHandler(&b, nil))}.progress(running)
	var line struct {
		Held    map[string]float64 `json:"held_seconds"`
		Longest struct {
			URL     string
			Seconds float64
			Try     int
		}
	}
	if err := json.Unmarshal(b.Bytes(), &line); err != nil || line.Longest.Seconds != 93.4 || line.Longest.Try != 2 || len(line.Held) != 2 || line.Held["fifth.test"] != 3600 {
		t.Errorf("%v: %s", err, &b)
	}
}

func TestEscape(t *testing.T) {
	for s, want := range map[string]string{
		"plain, Größe 日本": "plain, Größe 日本",
		"a\x1b[2J\nb":     `a\u001b[2J\u000ab`,
		"\u202e\u009b":    `\u202e\u009b`,
		"\xff\xfe\x7f":    `\xff\xfe\u007f`,
		"\U000e0041":      `\U000e0041`,
		"�":               "�",
	} {
		if got := printable(s); got != want {
			t.Errorf("%q: %q, expected %q", s, got, want)
		}
	}
	var b strings.Builder
	if n, err := (escaped{&b}).Write([]byte("{\"a\x9b\":\t1}\n")); n != 10 || err != nil || b.String() != "{\"a\\x9b\":\t1}\n" {
		t.Errorf("%d, %v, %q", n, err, b.String())
	}
}

// logged are the events of a log, each with all of its keys.
func logged(t *testing.T) (lines []map[string]any) {
	t.Helper()
	var b bytes.Buffer
	con := &console{voice: jsonVoice{slog.New(slog.NewJSONHandler(&b, nil))}}
	whole := running
	whole.stats.Memory, whole.stats.MaxMemory, whole.stats.Paused = 1, 2, []string{"by hand"}
	whole.stats.Ending, whole.stats.EndsIn, whole.stats.Bound = true, time.Second, "limit"
	con.progress(whole)
	con.voice.report(report{summary: weft.Summary{Counters: weft.Counters{Visit: 2}}})
	con.record(&weft.Record{})
	var paused pauseLog
	down := "the network is unreachable"
	for _, reasons := range [][]string{nil, {"waiting for memory"}, nil, {down + "; trying again in 2s"}, {down + "; trying again in 1s"}, {down}, nil, nil} {
		paused.note(con, reasons)
	}
	hooks := con.hooks()
	hooks.OnWarning(errors.New("a problem"))
	hooks.OnWarning(noted{})
	con.say("something to know")
	con.failed(errors.New("it ends"))
	con.quiet = true
	con.event("quiet", "quiet")
	for line := range bytes.Lines(b.Bytes()) {
		entry := make(map[string]any)
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, entry)
	}
	return lines
}

// noted is an order as package control notes it.
type noted struct{}

func (noted) Error() string { return "order pause: paused" }

func (noted) Event() (string, []any) { return "order", []any{"order", "pause", "answer", "paused"} }

// TestLogPage: docs/metrics.md lists the events of a log, with the level and the keys of each.
func TestLogPage(t *testing.T) {
	const page = "../../docs/metrics.md"
	var b strings.Builder
	b.WriteString("| event | level | keys |\n|---|---|---|\n")
	for _, entry := range logged(t) {
		var keys []string
		for _, key := range slices.Sorted(maps.Keys(entry)) {
			if !slices.Contains([]string{"time", "level", "msg", "event"}, key) {
				keys = append(keys, "`"+key+"`")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", entry["event"], entry["level"], strings.Join(keys, ", "))
	}
	was, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| event \| level \|.*\n(\|.*\n)+`)
	if !rows.Match(was) {
		t.Fatalf("%s has no table of events", page)
	}
	golden.Equal(t, page, string(rows.ReplaceAllLiteral(was, []byte(b.String()))))
}

// TestLogPauses: the log has a pause once, however its words change, and a momentary one never.
func TestLogPauses(t *testing.T) {
	var got []string
	for _, entry := range logged(t) {
		if e := entry["event"]; e == "pause" || e == "resume" {
			got = append(got, entry["msg"].(string))
		}
	}
	if want := []string{"paused: the network is unreachable", "resumed"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}
