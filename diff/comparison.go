package diff

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/record"
)

// Options are the choices of a comparison. The zero value leaves out what churns.
type Options struct {
	Churn bool   // tell what churns and rotates, too
	Temp  string // folder for what does not fit into memory; "": that for temporary files

	// Include compares only pages whose URL matches one of it, unless it is empty; Exclude none that
	// match one of it.
	Include, Exclude []*regexp.Regexp
}

// wants reports whether the page of a URL is compared.
func (o *Options) wants(url string) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(url) }
	return (len(o.Include) == 0 || slices.ContainsFunc(o.Include, matches)) && !slices.ContainsFunc(o.Exclude, matches)
}

// comparison is a comparison that is made.
type comparison struct {
	Options
	old, new   *side
	report     *Report
	summary    *Summary // of the report
	churn      map[churnKey]*Churn
	churnOrder []*Churn
}

// state is the meaning of a record for a comparison.
type state int

const (
	isThere state = iota
	isGone
	leads  // a redirect
	failed // that says nothing about the page
)

func stateOf(r *record.Record) state {
	switch {
	case r.Status == http.StatusNotFound || r.Status == http.StatusGone:
		return isGone
	case r.Status == 0 && r.WARCFile != "" && r.ErrorKind == "": // a resource of an archive
		return isThere
	case r.ErrorKind != "" || r.Error != "" || r.Status >= 400 || r.Status == 0:
		return failed
	case record.IsRedirect(r.Status):
		return leads
	}
	return isThere
}

// failure is the reason why a record says nothing.
func failure(r *record.Record) string {
	switch {
	case r.ErrorKind != "" && r.Error != "" && !strings.HasPrefix(r.Error, r.ErrorKind):
		return r.ErrorKind + ": " + brief(r.Error)
	case r.Error != "" || r.ErrorKind != "":
		return brief(cmp.Or(r.Error, r.ErrorKind))
	}
	return statusInWords(r.Status)
}

// statusInWords is "404 Not Found".
func statusInWords(status int) string {
	if text := http.StatusText(status); text != "" {
		return strconv.Itoa(status) + " " + text
	}
	return "status " + strconv.Itoa(status)
}

// statusDetails compares statuses and targets.
func statusDetails(a, b *record.Record) (all []Detail) {
	if a.Status != b.Status {
		all = append(all, Detail{Field: Status, Old: statusInWords(a.Status), New: statusInWords(b.Status)})
	}
	if a.Redirect != b.Redirect {
		all = append(all, Detail{Field: Redirect, Old: a.Redirect, New: b.Redirect})
	}
	return all
}

// isTree reports whether a page has facts that figures are part of.
func isTree(r *record.Record) bool { return record.IsHTML(r.Type()) }

// ok is a status; that of a page that was not modified is the one it had.
func ok(status int) int {
	if status == http.StatusNotModified || status == 0 {
		return http.StatusOK
	}
	return status
}

// tell hands a change on.
func (c *comparison) tell(p *Change) error {
	c.summary.count(p)
	return c.report.changes.add(p)
}

// churnKey groups churn: a report has one line for each.
type churnKey struct {
	field Field
	name  string
	key   uint64
}

// mostChurn bounds the groups of churn that are counted, mostChurnListed those in a report.
const (
	mostChurn       = 1000
	mostChurnListed = 20
)

// leaveOut counts a detail that is not told.
func (c *comparison) leaveOut(url string, d *draft, rotation bool) {
	key := churnKey{d.Field, d.Name, d.Place}
	if !rotation {
		key.key = d.Figures[0].Context
	}
	of := c.churn[key]
	if of == nil {
		if len(c.churn) >= mostChurn {
			c.summary.ChurnMore++
			return
		}
		of = &Churn{Field: d.Field, Name: d.Name, Rotation: rotation, URL: url, Old: brief(d.Old), New: brief(d.New)}
		c.churn[key] = of
		c.churnOrder = append(c.churnOrder, of)
	}
	of.Pages++
}

// brief is the beginning of an example.
func brief(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// listChurn returns the churn that a summary has, the most frequent first.
func (c *comparison) listChurn() []Churn {
	slices.SortStableFunc(c.churnOrder, func(a, b *Churn) int { return cmp.Compare(b.Pages, a.Pages) })
	var all []Churn
	for i, of := range c.churnOrder {
		if i == mostChurnListed {
			c.summary.ChurnMore += len(c.churnOrder) - mostChurnListed
			break
		}
		all = append(all, *of)
	}
	return all
}

// textOf returns the hash of the text of a page; 0: it is too short, or not known.
func (c *comparison) textOf(s *side, r *record.Record) uint64 {
	if !record.IsHTML(r.Type()) && r.ContentType != "" {
		return 0
	}
	words := r.Words
	hash, err := strconv.ParseUint(r.TextHash, 16, 64)
	if err != nil || words == 0 {
		if hash, words, err = textOf(r, func() (*response, error) { return s.read(r) }); err != nil {
			return 0
		}
	}
	if words < fewestWords {
		return 0
	}
	return hash
}
