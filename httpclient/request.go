package httpclient

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/http2"
)

// Request is a GET, a HEAD or a POST.
type Request struct {
	Method string // "GET", "HEAD", "OPTIONS" or "POST"; empty: GET
	Scheme string // "http" or "https"
	Host   string // HOST or HOST:PORT, as in the URL
	Target string // path and query, beginning with "/"

	// Header is sent along with the client's own fields and Options.Header. A field replaces all
	// of theirs with the same name, including Host; a field with an empty value removes them and
	// is not sent itself.
	Header Header

	// Cookies, unless nil, are sent in place of those of the jar, and beside those of Options.Header:
	// a Cookie field.
	Cookies *string
	// Stranger sends no other secret of the client's, such as a credential, and stores no cookie of
	// the response: somebody else has asked for it.
	Stranger bool

	// Allow judges each address of the host after the look-up, just before a connection to it is
	// made. Addresses for which it returns an error are left out; if none is left, the error is of
	// KindBlocked. It runs on the loop. An address that an Override names for the host is not
	// judged; with an Override for every host, literal addresses in the URL are judged, and other
	// names cannot be. A kept connection is judged again, and closed if its address is refused. nil
	// allows all.
	Allow func(to netip.AddrPort) error

	// Prefer is the address to try first if it is one of the host's. A kept connection may lead to
	// another. With Pinned it counts as one of the host's addresses even if the Resolver does not
	// return it, provided that it and one of theirs are allowed; this does not apply to a host
	// that is an address, has an Override or is looked up by a proxy.
	Prefer netip.Addr
	Pinned bool

	// Fresh sends the request over a new connection and not over a kept one, or over one of HTTP/2
	// that others are using and that is alive: if it has been silent for 5 s, it has to respond to a
	// PING within 5 s; or over one whose server allowed no request when it was last heard, less than 5
	// s ago. So is every POST sent. Once does not send the request again if the server ends the
	// connection just when it is used: the error then matches ErrStale. Nor is a POST sent again then,
	// as the server may have taken it.
	Fresh, Once bool

	// Prompt lets the response use the memory that Options.Meter reserves for hosts that respond
	// promptly. Cut cuts a body at the limit and sets Response.Truncated, instead of failing.
	Prompt, Cut bool

	// ConnectTimeout limits connecting, once the name is looked up, to less than what
	// Options.DialTimeout leaves; 0: does not. Connecting by way of a proxy it does not limit.
	ConnectTimeout time.Duration

	// FirstByteTimeout limits the time until the first byte of the response to less than
	// Options.FirstByteTimeout and Options.Timeout; 0: does not.
	FirstByteTimeout time.Duration

	Body []byte // of a POST; its Content-Type is a field of Header

	MaxBody int // overrides Options.MaxBody; 0 or negative: does not
}

// fresh reports whether the request must not meet the end of a connection: see Fresh.
func (r *Request) fresh() bool { return r.Fresh || r.Method == "POST" }

// repeats reports whether the request may be sent again although a server may have seen it.
func (r *Request) repeats() bool { return !r.Once && r.Method != "POST" }

// check refuses a request that would not arrive as it is.
func (r *Request) check() *Error {
	switch {
	case r.Method != "" && r.Method != "GET" && r.Method != "HEAD" && r.Method != "OPTIONS" && r.Method != "POST":
		return fail(KindScheme, "method %.20q, expected GET, HEAD, OPTIONS or POST", r.Method)
	case len(r.Body) > 0 && r.Method != "POST":
		return fail(KindScheme, "a body of %d bytes, expected none without POST", len(r.Body))
	case r.Scheme != "http" && r.Scheme != "https":
		return fail(KindScheme, "scheme %.20q, expected http or https", r.Scheme)
	case r.Host == "" || !visible(r.Host):
		return fail(KindScheme, "host %.64q, expected HOST or HOST:PORT", r.Host)
	case !strings.HasPrefix(r.Target, "/") || !visible(r.Target):
		return fail(KindScheme, "target %.64q, expected a path and query, percent-encoded", r.Target)
	}
	checked := r.Header
	if r.Cookies != nil {
		checked = append(slices.Clip(checked), Field{"Cookie", *r.Cookies})
	}
	if err := checked.Check(); err != nil {
		return &Error{Kind: KindScheme, Err: err}
	}
	return nil
}

// server returns the host to connect to: a name, or an address without brackets.
func (r *Request) server() (host string, port uint16, err *Error) {
	host = r.Host
	port = 80
	if r.Scheme == "https" {
		port = 443
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		if digits := host[i+1:]; digits != "" {
			n, e := strconv.ParseUint(digits, 10, 16)
			if e != nil {
				return "", 0, fail(KindScheme, "port %.20q, expected 0 to 65535", digits)
			}
			port = uint16(n)
		}
		host = host[:i]
	}
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		inner = strings.TrimSuffix(inner, "]")
	}
	if inner == "" || !bracketed && strings.IndexByte(inner, ':') >= 0 {
		return "", 0, fail(KindScheme, "host %.64q, expected HOST or HOST:PORT", r.Host)
	}
	return inner, port, nil
}

// header is the part of the header that all requests of a client share, made once.
type header struct {
	host   string        // overrides the URL's; empty: does not
	fields Header        // without Host
	lines  string        // fields as they are sent, and the empty line
	lower  []http2.Field // fields as HTTP/2 sends them
}

// newHeader adds over to the client's own fields.
func newHeader(userAgent string, over Header) header {
	own := Header{{"Accept", "*/*"}, {"Accept-Encoding", "gzip, deflate, br, zstd"}}
	if userAgent != "" {
		own = append(Header{{"User-Agent", userAgent}}, own...)
	}
	h := header{host: over.Get("Host")}
	for _, f := range own {
		if !over.has(f.Name) {
			h.fields = append(h.fields, f)
		}
	}
	for _, f := range over {
		if f.Value != "" && !isName(f.Name, "Host") {
			h.fields = append(h.fields, f)
		}
	}
	h.lines = string(append(appendFields(nil, h.fields, nil), "\r\n"...))
	h.lower = lowered(nil, h.fields, nil)
	return h
}

// lowered appends the fields of h that over does not replace, as HTTP/2 sends them.
func lowered(to []http2.Field, h, over Header) []http2.Field {
	for _, f := range h {
		if !over.has(f.Name) {
			to = append(to, http2.Field{Name: strings.ToLower(f.Name), Value: f.Value, Sensitive: isSecret(f)})
		}
	}
	return to
}

// fieldsOf returns the head of req as HTTP/2 sends it.
func (h *header) fieldsOf(req *Request) []http2.Field {
	method := cmp.Or(req.Method, "GET")
	host := cmp.Or(req.Header.Get("Host"), h.host, req.Host)
	list := make([]http2.Field, 0, 4+len(h.lower)+len(req.Header))
	list = append(list, http2.Field{Name: ":method", Value: method}, http2.Field{Name: ":scheme", Value: req.Scheme},
		http2.Field{Name: ":authority", Value: host}, http2.Field{Name: ":path", Value: req.Target})
	if len(req.Header) == 0 && req.Method != "POST" {
		return append(list, h.lower...)
	}
	list = lowered(list, h.fields, req.Header)
	own := slices.DeleteFunc(slices.Clone(req.Header), func(f Field) bool { return f.Value == "" || isName(f.Name, "Host") })
	if list = lowered(list, own, nil); req.Method == "POST" {
		list = append(list, http2.Field{Name: "content-length", Value: strconv.Itoa(len(req.Body))})
	}
	return list
}

// append appends the head of req in its wire format.
func (h *header) append(b []byte, req *Request) []byte {
	b = append(b, cmp.Or(req.Method, "GET")...)
	b = append(append(b, ' '), req.Target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	host := req.Host
	if h.host != "" {
		host = h.host
	}
	if len(req.Header) == 0 && req.Method != "POST" {
		b = append(append(b, host...), "\r\n"...)
		return append(b, h.lines...)
	}
	if over := req.Header.Get("Host"); over != "" {
		host = over
	}
	b = append(append(b, host...), "\r\n"...)
	b = appendFields(b, h.fields, req.Header)
	for _, f := range req.Header {
		if f.Value != "" && !isName(f.Name, "Host") {
			b = appendField(b, f)
		}
	}
	if req.Method == "POST" {
		b = appendField(b, Field{"Content-Length", strconv.Itoa(len(req.Body))})
	}
	return append(b, "\r\n"...)
}

// appendFields appends the fields of h that over does not replace.
func appendFields(b []byte, h, over Header) []byte {
	for _, f := range h {
		if !over.has(f.Name) {
			b = appendField(b, f)
		}
	}
	return b
}

func appendField(b []byte, f Field) []byte {
	b = append(append(b, f.Name...), ": "...)
	return append(append(b, f.Value...), "\r\n"...)
}
