package live

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/control"
	"github.com/weftcrawl/weft/internal/frontier/store"
)

// Problem is an error in the form of RFC 9457.
type Problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func (p *Problem) Error() string { return p.Detail }

func problem(status int, detail string) *Problem {
	return &Problem{Status: status, Title: http.StatusText(status), Detail: detail}
}

// wrong is a problem with what was asked.
func wrong(err error) error { return problem(http.StatusBadRequest, err.Error()) }

// statuses are those of errors that are no Problem.
var statuses = map[error]int{
	inspect.ErrState:         http.StatusBadRequest,
	inspect.ErrCursor:        http.StatusBadRequest,
	fs.ErrNotExist:           http.StatusNotFound,
	weft.ErrNotRunning:       http.StatusConflict,
	control.ErrNobody:        http.StatusConflict, // the crawl has just ended
	store.ErrLocked:          http.StatusServiceUnavailable,
	context.DeadlineExceeded: http.StatusServiceUnavailable,
}

// fail responds with an error.
func fail(w http.ResponseWriter, err error) {
	var p *Problem
	if !errors.As(err, &p) {
		p = problem(http.StatusInternalServerError, err.Error())
		for known, status := range statuses {
			if errors.Is(err, known) {
				p = problem(status, err.Error())
			}
		}
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // who asked may have left
}
