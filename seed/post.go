package seed

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/weburl"
)

// Post is a POST request that a crawl starts from.
type Post struct {
	URL  string `json:"url"`            // of the form's action, as Read reads it
	Type string `json:"type,omitempty"` // Content-Type; empty: TypeForm
	Body []byte `json:"body,omitempty"` // at most MaxPost bytes
}

// TypeForm is the Content-Type of a form without files.
const TypeForm = "application/x-www-form-urlencoded"

// MaxPost bounds the body of a Post, MaxPosts those of a crawl together, in bytes: a job keeps
// them.
const (
	MaxPost  = 1 << 20
	MaxPosts = 16 << 20
)

// PostForm returns the request that a browser sends for a form with fields.
func PostForm(to string, fields url.Values) Post {
	return Post{URL: to, Type: TypeForm, Body: []byte(fields.Encode())}
}

// Part is a field or a file of a form.
type Part struct {
	Name     string
	Content  []byte
	Filename string // of a file; empty: a field
	Type     string // its Content-Type; empty: application/octet-stream for a file, none for a field
}

// PostMultipart returns the request that a browser sends for a form with files. The same parts make
// the same request.
func PostMultipart(to string, parts ...Part) Post {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	// A boundary of letters and digits is valid.
	_ = w.SetBoundary("weft-" + hex.EncodeToString(sum[:16]))
	for _, p := range parts {
		head := textproto.MIMEHeader{}
		about := `form-data; name="` + quoted.Replace(p.Name) + `"`
		if p.Filename != "" {
			about += `; filename="` + quoted.Replace(p.Filename) + `"`
			p.Type = cmp.Or(p.Type, "application/octet-stream")
		}
		head.Set("Content-Disposition", about)
		if p.Type != "" {
			head.Set("Content-Type", p.Type)
		}
		part, _ := w.CreatePart(head) // a buffer takes everything
		_, _ = part.Write(p.Content)
	}
	_ = w.Close()
	return Post{URL: to, Type: w.FormDataContentType(), Body: body.Bytes()}
}

// quoted escapes names as browsers do: https://html.spec.whatwg.org/#multipart-form-data.
var quoted = strings.NewReplacer("\n", "%0A", "\r", "%0D", `"`, "%22")

// ContentType is Type or its default.
func (p *Post) ContentType() string { return cmp.Or(p.Type, TypeForm) }

// Digest names type and body, for weburl.URL.WithPost.
func (p *Post) Digest() string {
	sum := sha256.Sum256(append([]byte(p.ContentType()+"\x00"), p.Body...))
	return hex.EncodeToString(sum[:8])
}

// Read reads the URL of the request. The seed has the URL by which a crawl knows the request.
func (p *Post) Read() (Seed, error) {
	s, err := Read(p.URL)
	if err != nil {
		return s, err
	}
	s.URL = s.URL.WithPost(p.Digest())
	if len(p.Body) > MaxPost {
		return s, fmt.Errorf("%.128q: a body of %d bytes, expected at most %d", p.URL, len(p.Body), MaxPost)
	}
	if kind, _, err := mime.ParseMediaType(p.ContentType()); err != nil || !strings.Contains(kind, "/") {
		return s, fmt.Errorf("%.128q: type %.64q, expected a media type such as application/json", p.URL, p.Type)
	}
	if err := (httpclient.Header{{Name: "Content-Type", Value: p.ContentType()}}).Check(); err != nil {
		return s, fmt.Errorf("%.128q: %w", p.URL, err)
	}
	return s, nil
}

// Posts are the bodies that a crawl may send, by their digests.
type Posts map[string]*Post

var errPosts = errors.New("bodies of more than 16 MiB together")

// PostsOf returns requests by their digests. It fails if they are too much, or if two bodies have
// one digest.
func PostsOf(list []Post) (Posts, error) {
	all, size := make(Posts), 0
	for i := range list {
		p := &list[i]
		digest := p.Digest()
		if other := all[digest]; other != nil && (other.ContentType() != p.ContentType() || !bytes.Equal(other.Body, p.Body)) {
			return nil, fmt.Errorf("%.128q: another body has the same digest, expected no two such", p.URL)
		}
		if all[digest] == nil {
			size += len(p.Body)
		}
		if size > MaxPosts {
			return nil, errPosts
		}
		all[digest] = p
	}
	return all, nil
}

// Of returns the request that a URL is of; nil: it is a GET. Its error is that the body is not
// there.
func (p Posts) Of(u weburl.URL) (*Post, error) {
	digest := u.Post()
	if digest == "" {
		return nil, nil
	}
	if post := p[digest]; post != nil {
		return post, nil
	}
	return nil, errors.New("the job does not have the body of this POST")
}

// ReadKnown is ReadListed for a URL that a job may know: that of a POST stays one.
func ReadKnown(s string) (Seed, error) {
	known, err := ReadListed(s)
	if err != nil {
		return known, err
	}
	if _, fragment, ok := strings.Cut(s, "#"); ok {
		if u, err := weburl.Parse(known.URL.String() + "#" + strings.TrimSpace(fragment)); err == nil {
			known.URL = u.Identity()
		}
	}
	return known, nil
}
