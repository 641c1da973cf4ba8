package serve

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/weftcrawl/weft/internal/crawls"
)

// asks is the key of who asks, in a context.
type asks struct{}

// who returns the token of whoever asks; nil: none.
func who(ctx context.Context) *Token {
	t, _ := ctx.Value(asks{}).(*Token)
	return t
}

const bearer = "Bearer "

// asking returns the token of a request; nil: it has none. As long as no token is there at all,
// everybody is the operator.
func asking(r *http.Request, tokens *Tokens, people *sessions) (*Token, error) {
	// A token in a URL would be in logs and histories.
	if text, ok := strings.CutPrefix(r.Header.Get("Authorization"), bearer); ok {
		if t, err := tokens.hashed(hashOf(strings.TrimSpace(text))); t != nil || err != nil {
			return t, err
		}
	} else if t, err := people.find(r); t != nil || err != nil {
		return t, err
	}
	if _, err := tokens.List(); err != nil || tokens.areRequired() {
		return nil, err
	}
	return operator, nil
}

// may refuses a request of one who has not the right.
func may(ctx context.Context, r Right) error {
	if t := who(ctx); t == nil || !t.May(r) {
		return huma.Error403Forbidden("the token has no right to " + r.words())
	}
	return nil
}

// find returns a crawl, if it is there for whoever asks.
func find(ctx context.Context, f *crawls.Folder, id string) (crawls.Crawl, error) {
	c, err := f.Get(id)
	if t := who(ctx); err == nil && (t == nil || !t.sees(&c)) {
		return crawls.Crawl{}, crawls.ErrUnknown // nobody learns which others have
	}
	return c, err
}

// routes register resources, and know the crawls that these are about.
type routes struct {
	api    huma.API
	mux    *http.ServeMux
	folder *crawls.Folder
}

// raw is a resource of a crawl that is no JSON object, in one of its media types. It takes the
// right to read.
type raw struct {
	id, path, summary string
	kinds             []string
	also              []int // statuses beside 200
	params            []*huma.Param
}

// ranged are the statuses of requests for ranges, or for what has changed.
var ranged = []int{http.StatusPartialContent, http.StatusNotModified, http.StatusRequestedRangeNotSatisfiable}

// param is a parameter of a raw resource.
func param(in, name, doc string) *huma.Param {
	return &huma.Param{Name: name, In: in, Required: in == "path", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}

// ofCrawl registers a raw resource, and describes it as add does the others.
func (rs routes) ofCrawl(r raw, handle func(http.ResponseWriter, *http.Request, crawls.Crawl)) {
	kinds := make(map[string]*huma.MediaType)
	for _, kind := range r.kinds {
		kinds[kind] = &huma.MediaType{Schema: &huma.Schema{}}
	}
	failed := rs.schema(reflect.TypeFor[huma.ErrorModel]())
	responses := map[string]*huma.Response{"default": {Description: "Error", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: failed}}}}
	for _, status := range append([]int{http.StatusOK}, r.also...) {
		one := &huma.Response{Description: http.StatusText(status)}
		if status < 300 {
			one.Content = kinds
		}
		responses[strconv.Itoa(status)] = one
	}
	rs.api.OpenAPI().AddOperation(&huma.Operation{
		OperationID: r.id, Method: http.MethodGet, Path: strings.Replace(r.path, "...}", "}", 1), Summary: r.summary, Tags: []string{"crawls"},
		Description: requires(Read), Responses: responses, Parameters: append([]*huma.Param{param("path", "id", "the ID of the crawl")}, r.params...),
	})
	rs.mux.HandleFunc("GET "+r.path, func(w http.ResponseWriter, r *http.Request) {
		if err := may(r.Context(), Read); err != nil {
			refuse(w, err)
			return
		}
		c, err := find(r.Context(), rs.folder, r.PathValue("id"))
		if err != nil {
			refuse(w, problem(err))
			return
		}
		handle(w, r, c)
	})
}

// schema is the schema of a type, among those of the document.
func (rs routes) schema(t reflect.Type) *huma.Schema {
	return rs.api.OpenAPI().Components.Schemas.Schema(t, true, "")
}

// requires says which right a resource takes.
func requires(r Right) string { return "Requires the right to " + r.words() + "." }

// route is a resource of the API: its operation, and the right that it takes.
type route struct {
	id, method, path, summary string
	right                     Right
	status                    int // of a success; 0: 200
}

// add registers a resource. One whose input is Named is about a crawl that is there for who asks.
func add[I, O any](rs routes, r route, handle func(context.Context, *I) (*O, error)) {
	tag, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/v1/"), "/")
	responses := make(map[string]*huma.Response)
	huma.Register(rs.api, huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, DefaultStatus: r.status, Tags: []string{tag}, Responses: responses,
		MaxBodyBytes: mostBody, BodyReadTimeout: requestTakes, Description: requires(r.right),
	}, func(ctx context.Context, in *I) (*O, error) {
		if err := may(ctx, r.right); err != nil {
			return nil, err
		}
		if of, is := any(in).(interface{ crawl() string }); is {
			if _, err := find(ctx, rs.folder, of.crawl()); err != nil {
				return nil, problem(err)
			}
		}
		return handle(ctx, in)
	})
	// Registered before, it would keep huma from describing errors.
	if _, is := any(new(I)).(interface{ HasConditionalParams() bool }); is {
		responses["304"] = &huma.Response{Description: http.StatusText(http.StatusNotModified)}
	}
}

// Part is the part of a list that is asked for.
type Part struct {
	After string `query:"after" maxLength:"4096" doc:"the value of next in the previous part"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"the most entries to return"`
}

// answer is a body.
type answer[T any] struct{ Body T }

// stable is a body that is the same for as long as its tag is.
type stable[T any] struct {
	ETag string `header:"ETag" doc:"the tag of the body, if it has one"`
	Body T
}
