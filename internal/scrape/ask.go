package scrape

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/httpclient"
)

// Format names a part of a Result.
type Format string

// Formats.
const (
	Markdown   Format = "markdown"
	Text       Format = "text"
	HTML       Format = "html"       // of the same content as Markdown
	Raw        Format = "raw"        // the body, as the site has sent it, texts in UTF-8
	Links      Format = "links"      // that people see
	Items      Format = "items"      // by Ask.Rules
	Structured Format = "structured" // items of structured data
	Screenshot Format = "screenshot" // takes rendering
)

// Formats lists them.
func Formats() []Format {
	return []Format{Markdown, Text, HTML, Raw, Links, Items, Structured, Screenshot}
}

// names lists words.
func names[S ~string](all []S) string {
	var words []string
	for _, one := range all {
		words = append(words, string(one))
	}
	return strings.Join(words, ", ")
}

// Rendering is the choice to render a page, or not to.
type Rendering string

// Renderings.
const (
	RenderAuto   Rendering = "auto" // if it looks empty until its scripts run, and may be
	RenderAlways Rendering = "always"
	RenderNo     Rendering = "no"
)

// Ask names a page, and the parts of it that a caller wants. The zero value of each field
// but URL is its default.
type Ask struct {
	URL     string   // with or without a scheme
	Formats []Format // none: Markdown. What else is known of the page is in every Result

	Whole  bool // the page as it is, not its main content
	Unseen bool // with what people do not see

	Render   Rendering // empty: RenderAuto
	Wait     string    // of rendering: see weft.Render
	FullPage bool      // of Screenshot: from top to bottom

	Rules []extract.Rule // of Items

	Header  httpclient.Header // further fields of the requests
	MaxBody int               // bytes; 0, and more than the operator's: the operator's
	Timeout time.Duration     // 0, and more than the operator's: the operator's
	MaxAge  time.Duration     // a result of the same Ask is used that is not older; 0: none
}

// wants reports whether one of these is among the formats.
func (a *Ask) wants(formats ...Format) bool {
	return slices.ContainsFunc(formats, func(f Format) bool { return slices.Contains(a.Formats, f) })
}

// key tells asks apart that have different results. It is empty for one that has secrets.
func (a *Ask) key(given weft.Seed) string {
	if len(a.Header) > 0 || given.Credential != nil {
		return ""
	}
	rules, err := json.Marshal(a.Rules) // in a form in which no two are the same
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %q %t %t %s %q %t %d %s", given.URL, a.Formats, a.Whole, a.Unseen, a.Render, a.Wait, a.FullPage, a.MaxBody, rules)
}

// check fills in defaults.
func (s *Scraper) check(a *Ask) error {
	wrong := func(format string, args ...any) error {
		return &Error{Kind: KindMistake, URL: short(a.URL), Detail: fmt.Sprintf(format, args...)}
	}
	if len(a.Formats) == 0 {
		a.Formats = []Format{Markdown}
	}
	for _, f := range a.Formats {
		if !slices.Contains(Formats(), f) {
			return wrong("format %.64q, expected one of %s", f, names(Formats()))
		}
	}
	if a.MaxBody <= 0 || a.MaxBody > s.MaxBody {
		a.MaxBody = s.MaxBody
	}
	switch {
	case a.Render != "" && a.Render != RenderAuto && a.Render != RenderAlways && a.Render != RenderNo:
		return wrong("render %.64q, expected auto, always or no", a.Render)
	case a.wants(Items) && len(a.Rules) == 0:
		return wrong("format items, expected rules")
	case a.wants(Screenshot) && a.Render == RenderNo:
		return wrong("format screenshot, expected rendering")
	case !s.Render && (a.Render == RenderAlways || a.wants(Screenshot)):
		return &Error{Kind: KindNoRendering, URL: short(a.URL), Detail: "rendering is off: the operator turns it on with --render"}
	}
	return nil
}

const (
	mostFields = 50
	longFields = 16 << 10 // bytes of all names and values
)

// reserved are the fields that requests have by themselves, or that only the operator may set.
var reserved = []string{
	"accept-encoding", "connection", "content-length", "expect", "forwarded", "host", "http2-settings", "keep-alive", "range", "te", "trailer",
	"transfer-encoding", "upgrade", "user-agent", "via",
}

// Give puts the fields of a caller into the options of requests for a URL: cookies and credentials
// go to its origin alone. Its error is an *Error.
func Give(o *weft.HTTP, all httpclient.Header, given weft.Seed) error {
	size := 0
	o.Header = slices.Clip(o.Header)
	for _, f := range all {
		size += len(f.Name) + len(f.Value)
		name := strings.ToLower(f.Name)
		var err error
		switch {
		case slices.Contains(reserved, name) || strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "x-forwarded-"):
			err = fmt.Errorf("field %.64q, expected one that is not set by Weft", f.Name)
		case name == "cookie":
			if o.Cookies == nil {
				o.Cookies = newJar()
			}
			err = give(o.Cookies, f.Value, given)
		case name == "authorization":
			var c *httpclient.Credential
			if c, err = credential(f.Value, given); err == nil {
				o.Auth = append(o.Auth, *c)
			}
		default:
			if err = (httpclient.Header{f}).Check(); err == nil {
				o.Header.Del(f.Name)
				o.Header = append(o.Header, f)
			}
		}
		if err == nil && (len(all) > mostFields || size > longFields) {
			err = fmt.Errorf("header fields, expected at most %d, of %d bytes together", mostFields, longFields)
		}
		if err != nil {
			return &Error{Kind: KindMistake, URL: given.URL.String(), Detail: err.Error()}
		}
	}
	return nil
}

// give puts the cookies of a caller into the jar of the call, for the origin of its URL.
func give(jar http.CookieJar, value string, given weft.Seed) error {
	all, err := http.ParseCookie(value)
	if err != nil {
		return fmt.Errorf("cookie: %w", err)
	}
	at, err := http.NewRequest(http.MethodGet, given.URL.Origin()+"/", nil)
	if err != nil {
		return err
	}
	jar.SetCookies(at.URL, all)
	return nil
}

// credential reads an Authorization field.
func credential(value string, given weft.Seed) (*httpclient.Credential, error) {
	scheme, rest, _ := strings.Cut(value, " ")
	c := &httpclient.Credential{Scheme: given.URL.Scheme(), Host: given.URL.Host()}
	switch strings.ToLower(scheme) {
	case "bearer":
		c.Token = strings.TrimSpace(rest)
	case "basic":
		pair, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
		if err != nil {
			return nil, fmt.Errorf("authorization: %w", err)
		}
		c.User, c.Password, _ = strings.Cut(string(pair), ":")
	default:
		return nil, fmt.Errorf("authorization %.20q, expected Basic or Bearer", scheme)
	}
	return c, c.Check()
}

// newJar returns the cookies of one call.
func newJar() http.CookieJar { return cookies.New() }
