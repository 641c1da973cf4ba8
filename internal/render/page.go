package render

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Field is a header field.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Page is a page to render: the response that was received for it.
type Page struct {
	URL    string
	Status int
	Header []Field
	Body   []byte // decoded

	// Fetch answers a request of the page. An error refuses it; its text is in Document.Refused,
	// and a ByRule is marked there. Several may run at once. nil: all are refused.
	Fetch func(context.Context, *Request) (*Response, error)

	Limits Limits
	Steps  Steps   // before it is read
	Stores []Store // that its documents find

	// Cookies are those that the browser has before it shows the page: all others are gone. Those of
	// Header are added.
	Cookies []Cookie

	// Screenshot and PDF ask for pictures of the page: see IsSeen.
	Screenshot Screenshot
	PDF        bool
}

// Store is the localStorage of an origin: names and values.
type Store struct {
	Origin string      `json:"origin"`
	Items  [][2]string `json:"items"`
}

// Request is a request of a page.
type Request struct {
	URL    string
	Method string
	Header []Field
	Body   []byte // of a POST
	Type   Type
	Frame  bool // it is for the document of a frame

	// From are the origins of the documents that may have made it, "null" for an opaque one; none:
	// the page's.
	From []string

	sent func() // nil: nobody wants to know
}

// Sent says that the request is made, once it has waited for its turn.
func (q *Request) Sent() {
	if q.sent != nil {
		q.sent()
	}
}

// Type is the purpose of a request, as the protocol names it.
type Type string

// Types that matter to callers.
const (
	TypeDocument   Type = "Document"
	TypeImage      Type = "Image"
	TypeMedia      Type = "Media"
	TypeFont       Type = "Font"
	TypeScript     Type = "Script"
	TypeStylesheet Type = "Stylesheet"
	TypePing       Type = "Ping" // a beacon
	TypeWebSocket  Type = "WebSocket"
)

// MayStayOpen reports whether a request is one of a script, which a server may leave open. What a
// document needs is waited for.
func (t Type) MayStayOpen() bool {
	switch t {
	case TypeDocument, TypeScript, TypeStylesheet, TypeFont, TypeImage, TypeMedia:
		return false
	}
	return true
}

// Response answers a request.
type Response struct {
	Status int
	Header []Field
	Body   []byte // decoded
	Done   func() // called when the browser has it, or nobody needs it; or nil
}

// isRedirect reports whether a browser goes on from a response to another one:
// https://fetch.spec.whatwg.org/#redirect-status.
func (r *Response) isRedirect() bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, r.Status) && slices.ContainsFunc(r.Header, func(f Field) bool { return strings.EqualFold(f.Name, "Location") })
}

// Limits bound a page. Zero fields are those of DefaultLimits.
type Limits struct {
	Time     time.Duration // of the browser: while no request of the page is under way
	Total    time.Duration // from the start to the document, but for pauses of the renderer
	Open     time.Duration // for which a script's request is waited for, once it is Sent
	Virtual  time.Duration // virtual time
	Requests int           // of the page
	Bytes    int           // of what answers them, decoded
	Document int           // bytes of the rendered document, with its frames
}

// DefaultLimits are the limits of a page that names none.
var DefaultLimits = Limits{Time: 30 * time.Second, Total: 10 * time.Minute, Open: 8 * time.Second, Virtual: 10 * time.Second, Requests: 500, Bytes: 128 << 20, Document: 32 << 20}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	if l.Time > 0 {
		d.Time = l.Time
	}
	if l.Total > 0 {
		d.Total = l.Total
	}
	if l.Open > 0 {
		d.Open = l.Open
	}
	if l.Virtual > 0 {
		d.Virtual = l.Virtual
	}
	if l.Requests > 0 {
		d.Requests = l.Requests
	}
	if l.Bytes > 0 {
		d.Bytes = l.Bytes
	}
	if l.Document > 0 {
		d.Document = l.Document
	}
	return d
}

// Document is a rendered page.
type Document struct {
	URL    string // of the document, as scripts may have changed it
	HTML   string // with shadow roots as <template shadowrootmode>
	Frames []Frame

	// Targets are URLs that scripts have led to: by navigation, in new windows, in the history.
	Targets []string
	Refused []Refusal // requests that have failed
	Errors  []string  // of scripts: exceptions that none catches, and calls of console.error

	Screenshot []byte // PNG
	PDF        []byte
	Missing    string // the reason for a screenshot or PDF that is missing; or empty

	Requests int           // with the refused ones
	Took     time.Duration // real time
	Cut      string        // the limit or the Kind that ended it early; or empty
}

// Frame is a document within a page.
type Frame struct{ URL, HTML string }

// Refusal is a request that has failed: refused, without an answer, or answered by an error.
type Refusal struct {
	URL    string
	Type   Type
	Reason string
	Status int  // of the answer, 400 or more; 0: there was none
	ByRule bool // it was not made, by a rule of the caller or a limit: no fault of the page
}

// ByRule is an error of Page.Fetch: the request is not made, by a rule that it names.
type ByRule string

func (e ByRule) Error() string { return string(e) }

// The most of each list of a document, and bytes of a text in one.
const (
	mostTargets = 1000
	mostRefused = 1000
	mostErrors  = 50
	mostFrames  = 50
	mostBody    = 64 << 20 // of a response: Chromium ends at a message of 100 MB, in base64
	longestText = 2 << 10
)
