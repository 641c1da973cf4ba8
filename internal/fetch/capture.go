package fetch

import (
	"context"
	"crypto/tls"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// The memory of a response of more than bigRaw bytes counts until it is committed; one of more than
// longRaw bytes is encoded off the loop.
const (
	bigRaw  = 64 << 10
	longRaw = 256 << 10 // a millisecond's work
)

// archiver encodes exchanges for the archive.
// Owner: one loop.
type archiver struct {
	to      *capture.Archive // nil: there is none
	loop    *aio.Loop
	visit   int
	posts   seed.Posts
	bodies  *budget.Meter
	scratch archived
}

// add encodes an exchange for the archive, if there is one. u was requested at a time; cut says
// why the response is not whole, or nothing.
func (a *archiver) add(t *aio.Task, out *Outcome, u weburl.URL, res *httpclient.Response, at time.Time, cut string) error {
	if a.to == nil {
		return nil
	}
	if res == nil {
		if a.to.Metadata && out.Record != nil {
			out.Capture = a.to.Failure(out.Record)
		}
		return nil
	}
	at = at.UTC().Truncate(time.Microsecond)
	sent := out.sent
	if sent == nil && u.Post() != "" {
		sent, _ = postOf(a.posts, &out.URL) // ask has found it
	}
	n := res.RawLen()
	if n > bigRaw {
		// While it is encoded there are the response as received, and its member, which may be as long.
		if err := res.Make(t, 2*n); err != nil {
			return err
		}
	}
	if n <= longRaw {
		t.OnLoop(func() { out.Capture = a.scratch.encode(a.to, out, sent, u, res, at, cut) })
	} else {
		made, err := aio.Offload(t, func(context.Context) (*capture.Capture, error) {
			return new(archived).encode(a.to, out, sent, u, res, at, cut), nil
		})
		if err != nil {
			res.Keep(-2 * n)
			return err
		}
		out.Capture = made
	}
	if n > bigRaw {
		res.Keep(-2 * n)
		hold := a.bodies.Open(out.URL.Prompt)
		hold.Set(cap(out.Capture.Records))
		out.Holds = append(out.Holds, &hold)
	}
	out.captured(out.Capture.Past, a.visit)
	return nil
}

// archived is an exchange that is being encoded, with the memory that its parts take.
type archived struct {
	warc.Exchange
	parts   warc.Parts
	request []byte
	head    []byte // of the response
	pieces  [][]byte
}

// encode makes the capture of an exchange: see archiver.add.
func (x *archived) encode(a *capture.Archive, out *Outcome, sent *seed.Post, u weburl.URL, res *httpclient.Response, at time.Time, cut string) *capture.Capture {
	x.request = a.Public(x.request[:0], res.Sent)
	x.head = append(x.head[:0], res.RawHead...)
	x.pieces = res.AppendRaw(x.pieces[:0])
	defer func() { // what is the response's
		clear(x.pieces)
		x.parts, x.Exchange = warc.Parts{}, warc.Exchange{}
	}()
	x.parts = warc.Parts{
		Status: res.Status, Head: len(res.RawHead), Payload: res.Received(), Coded: res.Header.Get("Content-Encoding") != "",
	}
	// What has no coding is the body that was hashed when it was read.
	if body := res.Received(); !x.parts.Coded && len(body) > 0 && len(body) == len(res.Body) && out.content != ([32]byte{}) {
		x.parts.Digest = warc.Digest{Algorithm: warc.SHA256, Sum: out.content[:]}
	}
	x.Exchange = warc.Exchange{
		URL: u.Canonical().String(), Date: at, IP: res.Addr.Addr(), Protocols: warc.Protocols(res.Proto, ""),
		Request: x.request, Response: x.head, Rest: x.pieces, Parts: &x.parts, Truncated: cut,
	}
	if res.TLS != nil {
		x.Protocols = warc.Protocols(res.Proto, tls.VersionName(res.TLS.Version))
		x.Cipher = tls.CipherSuiteName(res.TLS.CipherSuite)
	}
	var past frontier.Capture
	if known := out.URL.Known; known != nil {
		past = known.Capture
	}
	mime := record.MediaType(record.BriefContentType(res.Header.Get("Content-Type")))
	if sent != nil {
		return a.EncodePost(&x.Exchange, capture.Post{Identity: u.String(), Type: sent.ContentType(), Body: sent.Body}, mime)
	}
	return a.Encode(&x.Exchange, past, mime)
}

// captured notes the capture for the next visit, with what compare has taken from the response.
func (out *Outcome) captured(past frontier.Capture, visit int) {
	if known := out.URL.Known; known != nil && known.Number == visit && out.Record != nil {
		known.Capture = past
	}
}

// cutOff says why a response is not whole that an exchange failed with.
func cutOff(kind httpclient.Kind) string {
	switch kind {
	case httpclient.KindTooLarge:
		return warc.CutLength
	case httpclient.KindTimeout, httpclient.KindIdleTimeout, httpclient.KindTooSlow:
		return warc.CutTime
	case httpclient.KindEncoding, httpclient.KindBomb: // it is whole, but cannot be decoded
		return ""
	case httpclient.KindProtocol:
		return warc.CutUnspecified
	}
	return warc.CutDisconnect
}

// addRobots is add for a robots.txt.
func (a *archiver) addRobots(t *aio.Task, out *Outcome, at weburl.URL, res *httpclient.Response, started time.Time, failure error) error {
	cut := ""
	switch {
	case res == nil:
		return nil
	case failure != nil:
		cut = cutOff(kindOf(failure))
	case res.Truncated:
		cut = warc.CutLength
	}
	return a.add(t, out, at, res, started, cut)
}

// addAddresses archives the addresses of a name, if that is wanted.
func (a *archiver) addAddresses(out *Outcome, to []netip.AddrPort) {
	if a.to == nil || !a.to.Metadata {
		return
	}
	var addresses warc.Header
	for _, addr := range to {
		addresses = append(addresses, warc.Field{Name: "address", Value: addr.Addr().String()})
	}
	if len(to) == 0 {
		addresses = warc.Header{{Name: "error", Value: "no address"}}
	}
	out.Capture = a.to.Note("dns:"+out.URL.URL.Hostname(), a.loop.Wall(), addresses)
}
