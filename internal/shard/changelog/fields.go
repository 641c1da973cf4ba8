package changelog

import (
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// field is one of a struct, by its address and its type.
type field struct {
	number  *int
	small   *int8
	role    *frontier.Role
	wide    *int64
	word    *uint64
	hash    *uint32
	is      *bool
	span    *time.Duration
	moment  *time.Time // by the clock of the job
	date    *time.Time // by the calendar
	text    *string
	alike   *string // that is often the same as in the change before
	content []byte
}

func number(p *int) field         { return field{number: p} }
func moment(p *time.Time) field   { return field{moment: p} }
func date(p *time.Time) field     { return field{date: p} }
func text(p *string) field        { return field{text: p} }
func is(p *bool) field            { return field{is: p} }
func span(p *time.Duration) field { return field{span: p} }

// urlFields are the fields of a URL that are mostly zero.
func urlFields(u *frontier.URL) []field {
	return []field{
		number(&u.Depth), number(&u.Hops), number(&u.Tries), {small: &u.Priority}, {small: &u.Rank}, {role: &u.Role},
		moment(&u.NotBefore),
	}
}

func tryFields(t *frontier.Try) []field {
	return []field{date(&t.At), number(&t.Status), text(&t.Kind), text(&t.Reason)}
}

func knownFields(k *frontier.Snapshot) []field {
	return []field{
		date(&k.At), number(&k.Status), {alike: &k.Type}, {content: k.Content[:]}, {word: &k.Text}, {wide: &k.Bytes},
		number(&k.Number), text(&k.Change), date(&k.First), date(&k.Changed), text(&k.Redirect), {hash: &k.Link}, {hash: &k.RobotsTag},
		text(&k.ETag), text(&k.Modified), text(&k.Title), date(&k.Capture.At), {content: k.Capture.Payload[:]},
		text(&k.About.Description), text(&k.About.H1), text(&k.About.Canonical), number(&k.About.Words), {alike: &k.About.Indexability},
		number(&k.Gone),
	}
}

func originFields(o *frontier.OriginState) []field {
	t, r := &o.Trouble, &o.Robots
	return []field{
		number(&o.Pending), number(&o.Answered), moment(&o.Asked), span(&o.Took), span(&o.Best), number(&o.Most), is(&o.Responded),
		is(&r.Have), moment(&r.Until),
		number(&o.Tried), is(&o.Capped), is(&o.Seed), moment(&o.BackOffEnd), number(&o.Strikes), is(&o.Overload),
		number(&o.Levels.Least), is(&o.Levels.Joint),
		moment(&t.Since), number(&t.Failures), moment(&t.Until), is(&t.GivenUp), text(&t.Kind), text(&t.Reason),
		is(&r.Shut), number(&r.Tries), text(&r.Kind), text(&r.Reason),
		number(&o.Errors),
	}
}

func (f *field) isZero() bool {
	switch {
	case f.number != nil:
		return *f.number == 0
	case f.small != nil:
		return *f.small == 0
	case f.role != nil:
		return *f.role == 0
	case f.wide != nil:
		return *f.wide == 0
	case f.word != nil:
		return *f.word == 0
	case f.hash != nil:
		return *f.hash == 0
	case f.is != nil:
		return !*f.is
	case f.span != nil:
		return *f.span == 0
	case f.moment != nil:
		return f.moment.IsZero()
	case f.date != nil:
		return f.date.IsZero()
	case f.text != nil:
		return *f.text == ""
	case f.alike != nil:
		return *f.alike == ""
	}
	for _, b := range f.content {
		if b != 0 {
			return false
		}
	}
	return true
}
