package schedule

import (
	"errors"
	"fmt"
	"net/mail"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
	"github.com/weftcrawl/weft/internal/near"
)

// Rule is a schedule of a crawl's visits, as people write it.
type Rule struct {
	Every  string `json:"every,omitempty"`  // a time, such as 6h; or Cron
	Cron   string `json:"cron,omitempty"`   // five fields, or a word such as @daily
	Zone   string `json:"zone,omitempty"`   // of Cron, such as Europe/Berlin; "": UTC
	Jitter string `json:"jitter,omitempty"` // a time that visits are late by at most; "": none
	Missed string `json:"missed,omitempty"` // MissedOnce or MissedSkip; "": MissedOnce
}

// Values of Rule.Missed.
const (
	MissedOnce = "once" // one of them is caught up
	MissedSkip = "skip" // none
)

// Bounds of rules.
const (
	mostText    = 100                  // bytes of a value
	leastEvery  = time.Second          //
	mostEvery   = 366 * 24 * time.Hour //
	mostJitter  = 24 * time.Hour       //
	mostCommand = 100                  // words of the command that gets notices
)

// Keys are those of the table [schedule].
var Keys = []string{"every", "cron", "zone", "jitter", "missed", "notify", "mail_to"}

// Unknown is the error of a key that the table does not have.
func Unknown(key string) error {
	if word := near.Word(key, Keys); word != "" {
		return fmt.Errorf("%.64q: unknown key, did you mean %s?", key, word)
	}
	return fmt.Errorf("%.64q: unknown key, expected one of %s", key, strings.Join(Keys, ", "))
}

// Notice is the mail about changes.
type Notice struct {
	Command []string // takes the mail on its standard input; nil: there are no notices
	To      string   // addresses of the mail; "": it has none
}

// Check refuses a notice that cannot work.
func (n *Notice) Check() error {
	switch sendmail := len(n.Command) > 0 && path.Base(n.Command[0]) == "sendmail"; {
	case n.To != "" && len(n.Command) == 0:
		return errors.New(`mail_to: expected together with notify, such as "sendmail -t"`)
	case n.To == "" && sendmail && slices.Contains(n.Command, "-t"):
		return errors.New("notify: sendmail -t reads the address from the mail: expected mail_to, too")
	}
	return nil
}

// FromTable reads a table [schedule]: a rule, and the notices.
func FromTable(table map[string]any) (r Rule, n Notice, err error) {
	texts := map[string]*string{"every": &r.Every, "cron": &r.Cron, "zone": &r.Zone, "jitter": &r.Jitter, "missed": &r.Missed, "mail_to": &n.To}
	for key, value := range table {
		if !slices.Contains(Keys, key) {
			return r, n, Unknown(key)
		}
		if key == "notify" {
			if n.Command, err = command(value); err != nil {
				return r, n, err
			}
			continue
		}
		text, is := value.(string)
		if !is || text == "" {
			return r, n, fmt.Errorf(`%s: expected a text, such as %s`, key, map[string]string{
				"every": `"6h"`, "cron": `"0 3 * * *"`, "zone": `"Europe/Berlin"`, "jitter": `"10m"`, "missed": `"once"`, "mail_to": `"me@example.org"`,
			}[key])
		}
		*texts[key] = text
	}
	if n.To != "" {
		if _, err := mail.ParseAddressList(n.To); err != nil {
			return r, n, fmt.Errorf(`mail_to: %.64q, expected addresses, such as "me@example.org"`, n.To)
		}
	}
	return r, n, nil
}

// command reads the words of a command: a list, or a text without quotes.
func command(value any) (words []string, err error) {
	if text, is := value.(string); is && !strings.ContainsAny(text, "'\"\\\x00") && len(text) <= 1000 {
		value = make([]any, 0)
		for _, word := range strings.Fields(text) {
			value = append(value.([]any), word)
		}
	}
	all, _ := value.([]any)
	for _, one := range all {
		word, is := one.(string)
		if !is || strings.ContainsRune(word, 0) {
			all = nil
			break
		}
		words = append(words, word)
	}
	if len(all) == 0 || len(all) > mostCommand || words[0] == "" {
		return nil, errors.New(`notify: expected a command such as "sendmail -t", or its words, such as ["sendmail", "-t"]`)
	}
	return words, nil
}

// Compile checks a rule that holds for a crawl since a moment.
func (r Rule) Compile(crawl string, since time.Time) (*Timetable, error) {
	for key, text := range map[string]string{"every": r.Every, "cron": r.Cron, "zone": r.Zone, "jitter": r.Jitter, "missed": r.Missed} {
		if len(text) > mostText {
			return nil, fmt.Errorf("%s: %d bytes, expected at most %d", key, len(text), mostText)
		}
	}
	t := &Timetable{crawl: crawl, since: since.Round(0).UTC(), zone: time.UTC, skip: r.Missed == MissedSkip}
	var err error
	switch {
	case r.Every != "" && r.Cron != "":
		return nil, errors.New("every and cron: expected one of them")
	case r.Every != "":
		if t.every, err = duration(r.Every); err != nil || t.every < leastEvery || t.every > mostEvery {
			return nil, fmt.Errorf("every = %q: expected a time from 1s to 366d, such as 30m, 6h or 7d", r.Every)
		}
		if r.Zone != "" {
			return nil, errors.New("zone: expected together with cron: an interval is the same everywhere")
		}
	case r.Cron != "":
		if t.zone, err = zone(r.Zone); err != nil {
			return nil, err
		}
		if t.cron, err = expression(r.Cron); err != nil {
			return nil, fmt.Errorf("cron = %q: %w", r.Cron, err)
		}
	default:
		return nil, errors.New(`expected every, such as "6h", or cron, such as "0 3 * * *"`)
	}
	if t.shortest = t.every; t.cron != nil {
		if t.shortest = shortest(t.cron, t.since); t.shortest == 0 {
			return nil, fmt.Errorf("cron = %q: no such time comes within five years", r.Cron)
		}
	}
	if r.Jitter != "" {
		if t.jitter, err = duration(r.Jitter); err != nil || t.jitter < 0 || t.jitter > min(mostJitter, t.shortest) {
			return nil, fmt.Errorf("jitter = %q: expected a time up to the shortest one between two visits, here %s", r.Jitter, min(mostJitter, t.shortest))
		}
	}
	if r.Missed != "" && r.Missed != MissedOnce && r.Missed != MissedSkip {
		return nil, fmt.Errorf("missed = %q: expected %s or %s", r.Missed, MissedOnce, MissedSkip)
	}
	return t, nil
}

// duration reads a time, which may be in days or weeks.
func duration(s string) (time.Duration, error) {
	unit := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	if n, err := strconv.ParseFloat(s[:len(s)-1], 64); unit > 0 && err == nil && n >= 0 && n < 1e4 {
		return time.Duration(n * float64(unit)), nil
	}
	return time.ParseDuration(s)
}

var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

// zone finds a time zone. That of the machine has no name: crawls may move to another.
func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if zoneName.MatchString(name) && name != "Local" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, fmt.Errorf("zone = %q: expected the name of a time zone, such as UTC or Europe/Berlin", name)
}

var words = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

// field matches a field of an expression: the parser ignores empty parts of lists.
var field = regexp.MustCompile(`^[0-9A-Za-z*?/-]+(,[0-9A-Za-z*?/-]+)*$`)

// expression reads a cron expression. Its zone is UTC.
func expression(text string) (cron.Schedule, error) {
	if strings.HasPrefix(text, "@") {
		if !slices.Contains(words, text) {
			return nil, fmt.Errorf("expected one of %s", strings.Join(words, ", "))
		}
	} else {
		fields := strings.Fields(text)
		if len(fields) != 5 {
			return nil, fmt.Errorf("%d fields, expected five: minute, hour, day of the month, month, day of the week", len(fields))
		}
		for _, f := range fields {
			if !field.MatchString(f) {
				return nil, fmt.Errorf("%q: expected numbers, names, ranges, lists and steps, such as */15 or 1-5", f)
			}
		}
	}
	return cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).Parse(text)
}
