package warc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"
)

// maxPostQuery is the most bytes of a request's body that are in an index.
const maxPostQuery = 4 << 10

// PostKey returns the key by which indexes sort what a POST has brought, and the body as they have
// it: that of a form, of several parts, of JSON as the query of a URL would say it, any other in
// base64. pywb, ReplayWeb.page and warcio agree on this, so that a form that is sent in a replay
// finds its response.
func PostKey(to, contentType string, body []byte) (key, query string) {
	query = postQuery(contentType, body)
	query = query[:min(len(query), maxPostQuery)]
	to, _, _ = strings.Cut(to, "#")
	sep := "?"
	if strings.Contains(to, "?") {
		sep = "&"
	}
	return SURT(to + sep + "__wb_method=POST&" + query), query
}

func postQuery(contentType string, body []byte) string {
	of, parameters, _ := mime.ParseMediaType(contentType)
	query, ok := "", false
	switch {
	case of == "application/x-www-form-urlencoded":
		query, ok = formQuery(body)
	case strings.HasPrefix(of, "multipart/"):
		query, ok = partsQuery(body, parameters["boundary"])
	case of == "application/json", of == "text/plain":
		query, ok = jsonQuery(body)
	}
	if !ok {
		return "__wb_post_data=" + base64.StdEncoding.EncodeToString(body)
	}
	return query
}

// formQuery writes the fields of a form in one spelling.
func formQuery(body []byte) (string, bool) {
	var all []string
	for pair := range strings.SplitSeq(string(body), "&") {
		name, text, is := strings.Cut(pair, "=")
		n, err := url.QueryUnescape(name)
		t, bad := url.QueryUnescape(text)
		if err != nil || bad != nil {
			return "", false
		}
		field := url.QueryEscape(n)
		if is {
			field += "=" + url.QueryEscape(t)
		}
		all = append(all, field)
	}
	return strings.Join(all, "&"), len(body) > 0
}

func partsQuery(body []byte, boundary string) (string, bool) {
	if boundary == "" {
		return "", false
	}
	var all []string
	for parts := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return strings.Join(all, "&"), len(all) > 0
		}
		if err != nil {
			return "", false
		}
		text, err := io.ReadAll(p)
		if err != nil {
			return "", false
		}
		all = append(all, url.QueryEscape(p.FormName())+"="+url.QueryEscape(string(text)))
	}
}

// jsonQuery writes the values of JSON, each with the name that stands before it; a name that comes
// again has its number.
func jsonQuery(body []byte) (string, bool) {
	type level struct {
		name   string // of an array's values
		object bool
	}
	var all []string
	var open []level
	met := make(map[string]int)
	name := "" // of an object's next value
	named := false
	for in := json.NewDecoder(bytes.NewReader(body)); ; {
		token, err := in.Token()
		if err == io.EOF {
			return strings.Join(all, "&"), len(all) > 0
		}
		if err != nil || len(open) > maxPostDepth {
			return "", false
		}
		last := len(open) - 1
		switch t := token.(type) {
		case json.Delim:
			if t == ']' || t == '}' {
				open, named = open[:last], false
				continue
			}
			if last >= 0 && !open[last].object {
				name = open[last].name
			}
			open, named = append(open, level{name, t == '{'}), false
			continue
		case string:
			if last >= 0 && open[last].object && !named {
				name, named = t, true
				continue
			}
		}
		if last >= 0 && !open[last].object {
			name = open[last].name
		}
		named = false
		met[name]++
		field := url.QueryEscape(name)
		if n := met[name]; n > 1 {
			field += "." + strconv.Itoa(n) + "_"
		}
		all = append(all, field+"="+url.QueryEscape(jsonText(token)))
	}
}

// maxPostDepth bounds the depth of JSON.
const maxPostDepth = 1000

// jsonText returns a value as JavaScript prints it.
func jsonText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if math.Abs(v) < 1e21 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return "null"
}

// Posted makes the line of an index that of what a POST has brought.
func (x *Index) Posted(contentType string, body []byte) {
	x.Method = "POST"
	x.Key, x.RequestBody = PostKey(x.URL, contentType, body)
}

// ReadPost reads the block of a request record. It returns false if that is no POST.
func ReadPost(block io.Reader) (contentType string, body []byte, ok bool) {
	m, err := ReadMessage(block)
	if err != nil || !strings.HasPrefix(m.Start, "POST ") {
		return "", nil, false
	}
	body, err = io.ReadAll(io.LimitReader(m.Payload(), MaxPostBody))
	return m.Header.Get("Content-Type"), body, err == nil
}

// MaxPostBody is the most bytes that are read of the body of a request.
const MaxPostBody = 1 << 20
