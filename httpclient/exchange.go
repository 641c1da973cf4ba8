package httpclient

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/internal/budget"
)

// exchange is the state of one request and its response. Thousands wait, so it is little until
// something arrives.
type exchange struct {
	client *Client
	req    *Request
	timing Timing
	hold   budget.Hold
	chain  int           // memory of the server's certificates that counts as held
	fields int           // bytes of the request's own fields, as held during the exchange
	sent   string        // the request, with Options.KeepRaw
	waited time.Duration // time spent waiting for room
	*arrival
}

// arrival is the state of a response that arrives; nil before: see exchange.arrive.
type arrival struct {
	parser parser
	err    *Error // of feeding the parser
	progress

	// Over HTTP/1.1.
	got  []byte // input of feed: what has arrived
	used int    // output of feed: how much of got it used

	// Over HTTP/2: when the first and the last of the response arrived; zero: nothing has.
	first, final time.Time
}

// begin prepares for an exchange.
func (x *exchange) begin(req *Request, tm Timing) {
	x.req, x.timing, x.fields = req, tm, 0
	for _, f := range req.Header {
		x.fields += len(f.Value)
	}
	x.hold.Set(x.base(0))
	if x.hold.Size() > budget.Small { // others may wait for it before the response begins
		x.arrive()
		x.judgeFrom(x.client.loop.Now())
	}
}

// arrive prepares for what arrives of the response.
func (x *exchange) arrive() {
	if x.arrival != nil {
		return
	}
	opt, req := &x.client.opt, x.req
	x.arrival = &arrival{parser: parser{
		maxHead: opt.MaxHead, maxBody: opt.MaxBody, cut: req.Cut, head: req.Method == "HEAD", keep: opt.KeepRaw,
	}}
	if req.MaxBody > 0 {
		x.parser.maxBody = req.MaxBody
	}
}

// pending says what had not happened yet when a limit struck during the response.
func (x *exchange) pending(patience limit) string {
	p := &x.parser
	switch {
	case p.empty():
		return "no response"
	case patience.kind == KindIdleTimeout:
		return "nothing more of the response"
	case patience.kind == KindTooSlow:
		return fmt.Sprintf("response slower than %d bytes a second, only %d", x.client.opt.MinRate, p.wire)
	}
	return "response incomplete"
}
