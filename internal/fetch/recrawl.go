package fetch

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
)

// conditions returns the fields that ask whether a URL has changed since its last visit (RFC 9110,
// section 13.1).
func conditions(known *frontier.Snapshot) (h httpclient.Header) {
	if known == nil {
		return nil
	}
	if known.ETag != "" {
		h = append(h, httpclient.Field{Name: "If-None-Match", Value: known.ETag})
	}
	if known.Modified != "" {
		h = append(h, httpclient.Field{Name: "If-Modified-Since", Value: known.Modified})
	}
	return h
}

// validate takes the validators for the next visit from a response. A 304 may leave out what has
// not changed (RFC 9110, section 15.4.5).
func validate(v *frontier.Snapshot, res *httpclient.Response) {
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

// isThere and isGone report whether a status says that a page is there, or gone. Others say nothing
// of it.
func isThere(status int) bool { return status >= 200 && status < 400 && status != 304 }
func isGone(status int) bool  { return status == 404 || status == 410 }

// sameBody reports whether the response is the same as at the last visit, when its links were read.
func sameBody(known *frontier.Snapshot, content [32]byte, r *record.Record) bool {
	return known != nil && known.Status == r.Status && r.Status < 300 && known.Content == content && known.Type == r.Type()
}

// hashFields returns a hash of the values of fields, the same in every run; 0: there are none.
func hashFields(h httpclient.Header, names ...string) uint32 {
	sum, found := fnv.New32a(), false
	for _, name := range names {
		for _, v := range h.Values(name) {
			found = true
			sum.Write([]byte(v))
			sum.Write([]byte{'\n'}) // no value has one
		}
	}
	if !found {
		return 0
	}
	return max(1, sum.Sum32())
}

// leading are the fields that have links.
var leading = []string{"Link", "Refresh"}

// sameLinks reports whether the header leads where it led when the page's links were read. A 304
// may leave a field out.
func sameLinks(known *frontier.Snapshot, res *httpclient.Response) bool {
	link, tag := hashFields(res.Header, leading...), hashFields(res.Header, "X-Robots-Tag")
	notModified := res.Status == 304
	return (link == known.Link || notModified && link == 0) && (tag == known.RobotsTag || notModified && tag == 0)
}

// sameness compares a response with the last visit.
func sameness(known, now *frontier.Snapshot) record.Sameness {
	switch {
	case isGone(now.Status) && isGone(known.Status):
		return record.SameBody
	case isGone(now.Status) || isGone(known.Status) || now.Redirect != known.Redirect:
		return ""
	case now.Redirect != "" || now.Content == known.Content:
		return record.SameBody
	case now.Text != 0 && now.Text == known.Text:
		return record.SameText
	}
	return ""
}

// compare puts into the record how the URL has changed since the last visit, and into the URL what
// the next visit compares with. A response that says nothing of the page leaves that as it was.
func (c *Config) compare(out *Outcome, res *httpclient.Response) {
	r, known := out.Record, out.URL.Known
	r.Indexability = r.Judge()
	notModified := r.Status == 304 && known != nil && (known.ETag != "" || known.Modified != "")
	if out.URL.Role == frontier.RoleExternal || !c.Job || r.ErrorKind != "" || !notModified && !isThere(r.Status) && !isGone(r.Status) {
		return
	}
	now := frontier.Snapshot{
		Status: r.Status, Redirect: r.Redirect, Content: out.content, Text: out.text.Hash, Bytes: r.Bytes, Type: r.Type(), Title: r.Title,
		Link: hashFields(res.Header, leading...), RobotsTag: hashFields(res.Header, "X-Robots-Tag"),
		First: r.Started, Changed: r.Started, About: aboutOf(r),
	}
	switch {
	case notModified:
		now, r.UnchangedBy = *known, record.SameNotModified
		r.ContentType, r.Title = known.Type, known.Title
		recall(r, &known.About)
		if known.Content != ([32]byte{}) {
			r.SHA256 = hex.EncodeToString(known.Content[:])
		}
		out.Saved = max(0, known.Bytes-r.Bytes)
	case known != nil:
		now.First, now.Capture, r.UnchangedBy = known.First, known.Capture, sameness(known, &now)
		if r.UnchangedBy == record.SameBody { // which is not read again
			r.Title = cmp.Or(r.Title, known.Title)
			now.Title = r.Title
			if !out.Read && r.Redirect == "" && !isGone(r.Status) {
				now.About = known.About
				recall(r, &known.About)
			}
		}
	}
	now.Number, now.At = c.Visit, r.Started
	validate(&now, res)
	if notModified && !sameLinks(known, res) {
		now.ETag, now.Modified = "", ""
	}
	if isGone(r.Status) { // with what the page led to, if it was there
		out.Read = known != nil && !isGone(known.Status)
		if now.Gone = c.Visit; known != nil && isGone(known.Status) {
			now.Gone = cmp.Or(known.Gone, known.Number)
		}
	}
	if c.Visit > 1 {
		out.change(known, &now)
	}
	now.Change = string(r.Change)
	out.URL.Known = &now
}

// aboutOf returns what the next visit is to know of a page.
func aboutOf(r *record.Record) frontier.About {
	return frontier.About{Description: r.Description, H1: r.H1, Canonical: r.Canonical, Words: r.Words, Indexability: string(r.Indexability)}
}

// recall puts into the record of a page that was not read what still holds of it.
func recall(r *record.Record, a *frontier.About) {
	r.Description, r.H1, r.Canonical, r.Words = a.Description, a.H1, a.Canonical, a.Words
	r.Indexability = record.Indexability(a.Indexability)
}

// change puts the change between two visits into the record.
func (out *Outcome) change(known, now *frontier.Snapshot) {
	r := out.Record
	switch {
	case r.UnchangedBy != "":
		r.Change, now.Changed = record.ChangeUnchanged, known.Changed
	case isGone(r.Status):
		if known != nil {
			r.Change = record.ChangeGone
		}
	case known == nil, isGone(known.Status) && known.Changed.Equal(known.First): // it never was there
		r.Change = record.ChangeNew
	default:
		r.Change = record.ChangeChanged
	}
	r.ChangedAt = now.Changed.UTC()
	out.Moved = r.Redirect != "" && now.Changed.After(now.First)
}
