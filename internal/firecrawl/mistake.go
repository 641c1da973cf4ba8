package firecrawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// mistake is an error of a request.
type mistake struct {
	status int
	text   string
}

func (m *mistake) Error() string { return m.text }

func wrong(format string, args ...any) error {
	return &mistake{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// unsupported refuses a part of a request.
func unsupported(name, why string) error { return wrong("%s is not supported: %s", name, why) }

// expected says what is wrong with a value, in one line.
func expected(err error, what string) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		article := "a "
		if strings.ContainsAny(kind.Value[:1], "ao") { // array, object
			article = "an "
		}
		return article + kind.Value + ", expected " + what
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s, at byte %d", syntax, syntax.Offset)
	}
	return "expected " + what
}

// short is the beginning of what a client has sent.
func short(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)[1 : len(strconv.Quote(s))-1]
}
