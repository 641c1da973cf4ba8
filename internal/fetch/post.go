package fetch

import (
	"errors"
	"strings"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/seed"
)

const methodPost = "POST"

// makePost makes the request for a URL a POST, if it is that of one.
func makePost(posts seed.Posts, req *httpclient.Request, u *frontier.URL) error {
	p, err := postOf(posts, u)
	if p == nil {
		return err
	}
	req.Method, req.Body = methodPost, p.Body
	req.Header = httpclient.Header{{Name: "Content-Type", Value: p.ContentType()}}
	return nil
}

// postOf returns the POST that a URL is known for; nil: it is a GET. What a hook sends stands in
// the data of the URL, which goes where the URL goes: other bodies are those of seeds.
func postOf(posts seed.Posts, u *frontier.URL) (*seed.Post, error) {
	if contentType, body, ok := strings.Cut(u.Data, "\x00"); ok && u.URL.Post() != "" {
		return &seed.Post{Type: contentType, Body: []byte(body)}, nil
	}
	return posts.Of(u.URL)
}

// dataOf returns the data of a URL that a program gave it; a POST has none.
func dataOf(u *frontier.URL) string {
	if u.URL.Post() != "" {
		return ""
	}
	return u.Data
}

// repeatable reports whether a request may be sent again after an error, or after a response that
// is no answer yet. A POST may have done its work (RFC 9110, section 9.2.2), unless it cannot have
// arrived or the server says that it was refused for now.
func repeatable(req *httpclient.Request, res *httpclient.Response, err error) bool {
	var e *httpclient.Error
	switch {
	case req.Method != methodPost:
		return true
	case errors.As(err, &e):
		return e.Unsent()
	}
	return res.Status == 429 || res.Status == 503 && res.Header.Get("Retry-After") != ""
}

// keptPost returns the digest of the POST that a redirect has sent again elsewhere; "" if it leads
// to a GET, as most do (RFC 9110, section 15.4).
func keptPost(u *frontier.URL, status int) string {
	if status == 307 || status == 308 {
		return u.URL.Post()
	}
	return ""
}
