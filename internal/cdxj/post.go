package cdxj

import "github.com/weftcrawl/weft/warc"

// pairs finds the request of each capture: the record just before or after it.
type pairs struct {
	request  *post  // that has no capture yet; nil: none
	response string // identifier of the last capture
}

// post is a request with a body.
type post struct {
	id, of, url, contentType string
	body                     []byte
}

func readPost(r *warc.Record) *post {
	if r.Type() != warc.Request {
		return nil
	}
	contentType, body, ok := warc.ReadPost(r)
	if !ok {
		return nil
	}
	return &post{r.ID(), r.Header.Get(concurrentTo), r.URL(), contentType, body}
}

const concurrentTo = "WARC-Concurrent-To"

// next takes in the next record, behind a capture; nil: it is behind none.
func (p *pairs) next(x *warc.Index, r *warc.Record) {
	q := readPost(r)
	switch {
	case q == nil:
	case x != nil && x.Method == "" && q.url == x.URL && (q.of == "" || q.of == p.response):
		x.Posted(q.contentType, q.body)
	default:
		p.request = q
	}
}

// take takes in a capture, of a record; nil: it is none.
func (p *pairs) take(x *warc.Index, r *warc.Record) {
	if x == nil {
		return
	}
	p.response = r.ID()
	of := r.Header.Get(concurrentTo)
	if q := p.request; q != nil && q.url == x.URL && (of == q.id || of == "" && (q.of == "" || q.of == r.ID())) {
		x.Posted(q.contentType, q.body)
	}
	p.request = nil
}
