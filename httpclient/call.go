package httpclient

import (
	"net/url"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// call is a request until its response, over as many exchanges as that takes.
type call struct {
	client *Client
	req    *Request
	via    *Proxy   // nil: direct
	page   *url.URL // the URL for the cookie jar; nil: none
	began  time.Time
	total  limit
	tried  int32   // exchanges so far
	barred int32   // of these, refused over HTTP/2 by a server that allowed none by then
	try    attempt // the exchange; nil: none yet, or not any more
	sent   time.Time
	next   func(t *aio.Task, res *Response, err error) error // of DoThen; nil: of Do
}

// attempt is an exchange as a call sees it: a conn over HTTP/1.1 (http1.go), a stream over HTTP/2.
type attempt interface {
	// send sends the request.
	send(t *aio.Task, k *call) *Error
	// receive reads the response. waits reports that nothing has arrived yet of that of DoThen.
	receive(t *aio.Task, k *call) (failed *Error, waits bool)
	// when lets the task go on with next when something may have arrived, or its time is over.
	when(t *aio.Task, k *call, next func(t *aio.Task) error) error
	// end ends the exchange; again reports that the request is to be sent once more.
	end(t *aio.Task, k *call, failed *Error) (res *Response, err *Error, again bool)
}

// patience returns how long the first bytes of the response may take.
func (k *call) patience() limit {
	most := k.total.within(k.client.opt.FirstByteTimeout, k.sent, KindFirstByteTimeout)
	return most.within(k.req.FirstByteTimeout, k.sent, KindFirstByteTimeout)
}
