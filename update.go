package weft

import (
	"context"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"maps"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
)

// Change is what a later visit of a job has found of a URL, beside what is known of it from
// before. What answers with an error, or not at all, has none: that says nothing of the page.
//
// A visit asks for every URL that an earlier one has asked for or refused, though nothing may
// lead to it any more, and for what changed and new pages lead to. Links of unchanged pages are
// not read again, unless their Link or X-Robots-Tag fields are others (those of a 304, which comes
// without the page, make the next visit ask for all of it): what they lead to is known, and what they led to in vain (out of the scope,
// or excluded, or beyond a limit, or from a page that was pruned, be it that the other has changed since) is not tried again, nor
// when Amend widens the scope: a job of its own finds it.
//
// With LimitPerHost a host's known URLs come before its new ones, so that these take only what
// room the known ones leave.
type Change string

// The changes.
const (
	ChangeUnchanged Change = "unchanged" // it is as it was: see Sameness
	ChangeChanged   Change = "changed"   // it is not, or leads elsewhere; or it is back, having been gone
	ChangeGone      Change = "gone"      // 404 or 410, and it was there before
	ChangeNew       Change = "new"       // it is there, and no visit before has found it there
)

// Sameness is how it is known that a URL is unchanged.
//
// The text of all pages is read from the first visit on.
type Sameness string

// The kinds of sameness.
const (
	SameAsTold Sameness = "not-modified" // the server has said so, by 304
	SameAnswer Sameness = "answer"       // the same body, the same target of a redirect, or gone as before
	SameText   Sameness = "text"         // another body, but the same text, as readers see it: see package text; or a sitemap with the same entries
)

var (
	errNoJob = errors.New("no job, expected one to visit again")
	errFresh = errors.New("with Fresh, expected one of them")
)

// nextVisit is the history of a finished job at the beginning of its next visit.
func (h history) nextVisit() history {
	next := history{Summary: newSummary(), List: h.List, Hosts: h.Hosts, Turning: true, NotFollowed: maps.Clone(h.Summary.NotFollowed)}
	for reason, n := range h.NotFollowed {
		next.NotFollowed[reason] += n
	}
	next.Summary.Visit = max(1, h.Summary.Visit) + 1
	return next
}

// turn makes what the job knows pending again, where a visit begins: be it one that a crawl
// has begun which was killed meanwhile.
func (j *job) turn(ctx context.Context) error {
	if !j.history.Turning {
		return nil
	}
	if err := j.store.Recrawl(ctx, j.plan.LimitPerHost > 0); err != nil {
		return err
	}
	j.history.Turning = false
	g := j.store.Begin()
	g.Set(noteHistory, j.history.encode())
	return j.store.Commit(g)
}

// conditions are the fields with which a request asks whether a URL has changed since it was
// visited (RFC 9110, section 13.1).
func conditions(known *frontier.Visit) (h http1.Header) {
	if known == nil {
		return nil
	}
	if known.ETag != "" {
		h = append(h, http1.Field{Name: "If-None-Match", Value: known.ETag})
	}
	if known.Modified != "" {
		h = append(h, http1.Field{Name: "If-Modified-Since", Value: known.Modified})
	}
	return h
}

// validate takes from an answer what the next request asks with. A 304 may leave out what
// has not changed (RFC 9110, section 15.4.5).
func validate(v *frontier.Visit, res *http1.Response) {
	switch res.Status {
	case 200, 203, 304:
	default:
		return
	}
	for _, field := range res.Validators() {
		if field.Name == "If-None-Match" {
			v.ETag = field.Value
		} else {
			v.Modified = field.Value
		}
	}
}

// isThere and isGone are what a status says of a page. Others say nothing of it.
func isThere(status int) bool { return status >= 200 && status < 400 && status != 304 }
func isGone(status int) bool  { return status == 404 || status == 410 }

// sameBody reports whether the whole answer to a URL is one that was read when it came last.
func sameBody(known *frontier.Visit, content [32]byte, r *Record) bool {
	return known != nil && known.Status == r.Status && r.Status < 300 && known.Content == content && known.Type == r.ContentType
}

// hashFields returns a hash of the values of a field, which stays the same from one run to
// another; 0 if there are none.
func hashFields(h http1.Header, name string) uint32 {
	values := h.Values(name)
	if len(values) == 0 {
		return 0
	}
	sum := fnv.New32a()
	for _, v := range values {
		sum.Write([]byte(v))
		sum.Write([]byte{'\n'}) // which is in no value
	}
	return max(1, sum.Sum32())
}

// sameLinks reports whether the header of an answer says of where the URL leads what it said
// when its links were read. A 304 may leave a field out.
func sameLinks(known *frontier.Visit, res *http1.Response) bool {
	link, tag := hashFields(res.Header, "Link"), hashFields(res.Header, "X-Robots-Tag")
	told := res.Status == 304
	return (link == known.Link || told && link == 0) && (tag == known.RobotsTag || told && tag == 0)
}

// sameness compares an answer with what is known.
func sameness(known, now *frontier.Visit) Sameness {
	switch {
	case isGone(now.Status) && isGone(known.Status):
		return SameAnswer
	case isGone(now.Status) || isGone(known.Status) || now.Redirect != known.Redirect:
		return ""
	case now.Redirect != "" || now.Content == known.Content:
		return SameAnswer
	case now.Text != 0 && now.Text == known.Text:
		return SameText
	}
	return ""
}

// compare says in the record what has become of a URL since it was visited last, and in the
// URL what its next visit is to know. An answer that says nothing of the page leaves what
// is known as it was.
func (f *fetcher) compare(out *outcome, res *http1.Response) {
	r, known := out.record, out.url.Known
	told := r.Status == 304 && known != nil && (known.ETag != "" || known.Modified != "")
	if f.desk.job == nil || r.ErrorKind != "" || !told && !isThere(r.Status) && !isGone(r.Status) {
		return
	}
	now := frontier.Visit{
		Status: r.Status, Redirect: r.Redirect, Content: out.content, Text: out.text.Hash, Bytes: r.Bytes, Type: r.ContentType,
		Link: hashFields(res.Header, "Link"), RobotsTag: hashFields(res.Header, "X-Robots-Tag"),
		First: r.Started, Changed: r.Started,
	}
	switch {
	case told:
		now, r.UnchangedBy = *known, SameAsTold
		r.ContentType = known.Type
		if known.Content != ([32]byte{}) {
			r.SHA256 = hex.EncodeToString(known.Content[:])
		}
		out.saved = max(0, known.Bytes-r.Bytes)
	case known != nil:
		now.First, r.UnchangedBy = known.First, sameness(known, &now)
	}
	now.Number, now.At = f.visit, r.Started
	validate(&now, res)
	if told && !sameLinks(known, res) {
		now.ETag, now.Modified = "", ""
	}
	if f.visit > 1 {
		switch {
		case r.UnchangedBy != "":
			r.Change, now.Changed = ChangeUnchanged, known.Changed
		case isGone(r.Status):
			if known != nil {
				r.Change = ChangeGone
			}
		case known == nil, isGone(known.Status) && known.Changed.Equal(known.First): // it never was there
			r.Change = ChangeNew
		default:
			r.Change = ChangeChanged
		}
		r.ChangedAt = now.Changed.UTC()
		out.moved = r.Redirect != "" && now.Changed.After(now.First)
	}
	now.Change = string(r.Change)
	out.url.Known = &now
}
