package record

import (
	"fmt"
	"strings"
)

// Rendered is the fate of a page in a browser. Lists and texts are cut to what a person reads.
type Rendered struct {
	// Reason is the evidence for rendering: always; that of a page that looks empty until its
	// scripts run, as Record.NeedsScripts has it; of others, learned or sample.
	Reason string `json:"reason"`
	// AsReceived says that the page counts as it was received, and why: learned or same.
	AsReceived string `json:"as_received,omitempty"`
	// Error is the reason for which there is no rendered document: the page counts as it was received.
	Error     string   `json:"error,omitempty"`
	ErrorKind string   `json:"error_kind,omitempty"` // crash, cpu, time, left or another
	MS        int64    `json:"ms"`                   // real time, waits for other servers included
	Requests  int      `json:"requests"`             // of the page, with the refused ones
	Cached    int64    `json:"cached,omitempty"`     // bytes requested for an earlier page
	Bytes     int      `json:"bytes,omitempty"`      // of the rendered document
	SHA256    string   `json:"sha256,omitempty"`     // of the rendered document, hexadecimal
	Cut       string   `json:"cut,omitempty"`        // its limit: see weft.Rendered
	URL       string   `json:"url,omitempty"`        // of the document, if scripts have changed it
	Failed    []string `json:"failed,omitempty"`     // requests without a good response, with reasons
	Refused   []string `json:"refused,omitempty"`    // requests that a rule forbids: URL and reason
	Errors    []string `json:"errors,omitempty"`     // messages of scripts that failed

	// Further requests, beyond the most of Failed and Refused.
	MoreFailed  int `json:"more_failed,omitempty"`
	MoreRefused int `json:"more_refused,omitempty"`

	// Pictures of the page: files, from the folder of the job.
	Screenshot string `json:"screenshot,omitempty"`
	PDF        string `json:"pdf,omitempty"`
	Missing    string `json:"missing,omitempty"` // the reason for a picture that is missing

	// The place of the rendered document in the archive, as of a response.
	WARCFile   string `json:"warc_file,omitempty"`
	WARCOffset int64  `json:"warc_offset,omitempty"`
}

// The most of a list of Rendered, and bytes of a text in one.
const (
	mostRendered    = 20
	longestRendered = 300
)

// Words says what became of the page in a browser.
func (r *Rendered) Words() string {
	why := r.because()
	switch {
	case r.AsReceived == RenderedLearned:
		return fmt.Sprintf("not rendered (%s): rendering has added nothing to pages like it", why)
	case r.Error != "":
		return fmt.Sprintf("not rendered (%s): %s", why, r.Error)
	}
	requests := "1 request"
	if r.Requests != 1 {
		requests = fmt.Sprint(r.Requests, " requests")
	}
	text := fmt.Sprintf("rendered (%s) in %d ms with %s", why, r.MS, requests)
	if r.AsReceived == RenderedSame {
		text += ": that has added next to nothing, so the page counts as it was received"
	}
	return text
}

// because says why the page was to be rendered.
func (r *Rendered) because() string {
	switch r.Reason {
	case RenderedAlways:
		return "as each page"
	case RenderedLearned:
		return "scripts add much to pages like it"
	case RenderedSample:
		return "as a sample of pages like it"
	}
	return "it looks empty without scripts: " + r.Reason
}

// Values of Reason and AsReceived, besides those of Record.NeedsScripts.
const (
	RenderedAlways  = "always"  // as each page
	RenderedLearned = "learned" // or not, by what pages of its shape have shown
	RenderedSample  = "sample"  // to see what that adds to pages of its shape
	RenderedSame    = "same"    // rendering has added next to nothing
)

// JSON returns the object as a text; "" if there is none.
func (r *Rendered) JSON() string {
	if r == nil {
		return ""
	}
	return strings.TrimSuffix(string(jsonLine(r)), "\n")
}

// Place returns what finds the rendered document; nil if there is none.
func (r *Rendered) Place() *Rendered {
	if r == nil || r.SHA256 == "" {
		return nil
	}
	return &Rendered{Reason: r.Reason, SHA256: r.SHA256, WARCFile: r.WARCFile, WARCOffset: r.WARCOffset}
}

// AddFailed adds a request without a good response.
func (r *Rendered) AddFailed(url, reason string) {
	if len(r.Failed) == mostRendered {
		r.MoreFailed++
	}
	r.Failed = addText(r.Failed, url+" "+reason)
}

// AddRefused adds a request that was not made, by a rule.
func (r *Rendered) AddRefused(url, reason string) {
	if len(r.Refused) == mostRendered {
		r.MoreRefused++
	}
	r.Refused = addText(r.Refused, url+" "+reason)
}

// AddError adds a message of a script that failed: its first line.
func (r *Rendered) AddError(message string) {
	first, _, _ := strings.Cut(message, "\n")
	r.Errors = addText(r.Errors, first)
}

func addText(to []string, text string) []string {
	if len(to) == mostRendered {
		return to
	}
	if len(text) > longestRendered {
		text = strings.ToValidUTF8(text[:longestRendered], "") + "…"
	}
	return append(to, text)
}
