package served

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// operation is one of /v1/openapi.json, with the schema of each answer by status and media type; a
// media type that is no JSON has none.
type operation struct {
	method  string
	path    *regexp.Regexp
	answers map[string]map[string]*jsonschema.Resolved
}

// document has the operations of /v1: the same for all servers of a binary.
var document struct {
	sync.Once
	all []operation
	err error
}

// describe reads the document of a server.
func (s *server) describe() (all []operation, err error) {
	resp, err := s.client.Get(s.url + "/v1/openapi.json")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var d struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema json.RawMessage }
			}
		}
		Components struct{ Schemas json.RawMessage }
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "#/components/schemas/", "#/$defs/")), &d); err != nil {
		return nil, err
	}
	schema := func(of json.RawMessage) (*jsonschema.Resolved, error) {
		var root jsonschema.Schema
		if err := json.Unmarshal(fmt.Appendf(nil, `{"$defs":%s,"allOf":[%s]}`, d.Components.Schemas, of), &root); err != nil {
			return nil, err
		}
		return root.Resolve(nil)
	}
	for path, methods := range d.Paths {
		// The name of a file has slashes.
		pattern := strings.ReplaceAll(regexp.QuoteMeta(path), `\{name\}`, ".+")
		at := regexp.MustCompile("^" + regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(pattern, "[^/]+") + "$")
		for method, o := range methods {
			one := operation{strings.ToUpper(method), at, make(map[string]map[string]*jsonschema.Resolved)}
			for status, r := range o.Responses {
				one.answers[status] = make(map[string]*jsonschema.Resolved)
				for kind, content := range r.Content {
					if one.answers[status][kind] = nil; strings.HasSuffix(kind, "json") {
						if one.answers[status][kind], err = schema(content.Schema); err != nil {
							return nil, fmt.Errorf("%s %s: %s: %w", method, path, status, err)
						}
					}
				}
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// isDescribed fails the test unless an answer of /v1 is as the document has it: its path, status
// and media type are there, and its body has the schema. What the document does not have, the
// server has not either.
func (s *server) isDescribed(resp *http.Response, body []byte) {
	s.t.Helper()
	path := resp.Request.URL.EscapedPath()
	if !strings.HasPrefix(path, "/v1/") || path == "/v1/openapi.json" {
		return
	}
	if document.Do(func() { document.all, document.err = s.describe() }); document.err != nil {
		s.t.Fatal(document.err)
	}
	if err := described(document.all, resp.Request.Method, path, resp.StatusCode, resp.Header.Get("Content-Type"), body); err != nil {
		s.t.Errorf("%s %s: %d: %v: %.500s", resp.Request.Method, resp.Request.URL, resp.StatusCode, err, body)
	}
}

func described(all []operation, method, path string, status int, kind string, body []byte) error {
	at := slices.IndexFunc(all, func(o operation) bool { return o.method == method && o.path.MatchString(path) })
	if at < 0 {
		if status < 400 {
			return fmt.Errorf("the document has no such path")
		}
		return nil
	}
	content, ok := all[at].answers[fmt.Sprint(status)]
	if !ok && status >= 400 { // no error is expected to be listed
		content, ok = all[at].answers["default"]
	}
	if !ok {
		return fmt.Errorf("the document has no such status")
	}
	if len(content) == 0 {
		if len(body) > 0 && status < 400 {
			return fmt.Errorf("the document has no body")
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return fmt.Errorf("media type %q: %w", kind, err)
	}
	schema, ok := content[media]
	if !ok {
		return fmt.Errorf("the document has no media type %s", media)
	}
	if schema == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return schema.Validate(v)
}

// TestDescribed: the check of answers finds each one that differs from the document.
func TestDescribed(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	all, err := s.describe()
	if err != nil {
		t.Fatal(err)
	}
	const list, failed = "application/json", "application/problem+json"
	for _, c := range []struct {
		method, path string
		status       int
		kind, body   string
		want         string // "": as the document has it
	}{
		{"GET", "/v1/crawls", 200, list, `{"crawls":[]}`, ""},
		{"GET", "/v1/crawls", 404, failed, `{"title":"Not Found","status":404}`, ""},
		{"GET", "/v1/none", 404, failed, `{}`, ""},
		{"GET", "/v1/crawls/x/files/archive/a.warc.gz", 206, "application/gzip", "x", ""},
		{"GET", "/v1/crawls/x/changes/2", 200, "text/html; charset=utf-8", "x", ""},
		{"GET", "/v1/crawls/x/changes.atom", 200, "application/atom+xml; charset=utf-8", "x", ""},
		{"GET", "/v1/crawls/x/export", 304, "", "", ""},
		{"GET", "/v1/none", 200, list, `{}`, "path"},
		{"PUT", "/v1/crawls", 200, list, `{}`, "path"},
		{"GET", "/v1/crawls", 201, list, `{"crawls":[]}`, "status"},
		{"GET", "/v1/crawls", 200, "text/plain", `{"crawls":[]}`, "media type"},
		{"GET", "/v1/crawls", 200, list, `{}`, "crawls"},
		{"GET", "/v1/crawls", 200, list, `{"crawls":[{}]}`, "id"},
		{"GET", "/v1/crawls", 200, list, `{"crawls":[],"more":1}`, "more"},
		{"GET", "/v1/crawls/x/check", 200, list, `{}`, "totals"},
	} {
		err := described(all, c.method, c.path, c.status, c.kind, []byte(c.body))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
