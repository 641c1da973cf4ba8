package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"syscall"

	"github.com/danielgtaylor/huma/v2"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/export"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/scrape"
	"github.com/weftcrawl/weft/internal/share"
)

// Problem is an error in the form of RFC 9457.
type Problem struct {
	Type   string `json:"type,omitempty"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// fail answers with a problem.
func fail(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	// Whoever asked may have left.
	_ = json.NewEncoder(w).Encode(Problem{Title: http.StatusText(status), Status: status, Detail: detail})
}

// wrong is an error of what was asked for.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

// problem returns an error in the form of the API.
func problem(err error) error {
	var w wrong
	var known huma.StatusError
	var failed *scrape.Error
	var over *crawls.OverLimit
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return huma.NewError(cmp.Or(statusOf[failed.Kind], http.StatusBadGateway), failed.Advised())
	case errors.As(err, &known):
		return err
	case errors.As(err, &w):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, crawls.ErrUnknown), errors.Is(err, fs.ErrNotExist):
		return huma.Error404NotFound(crawls.ErrUnknown.Error())
	case errors.Is(err, crawls.ErrOther), errors.Is(err, crawls.ErrPlace), errors.Is(err, inspect.ErrState), errors.Is(err, inspect.ErrCursor),
		errors.Is(err, export.ErrNoLinks), errors.Is(err, export.ErrNoItems), errors.Is(err, export.ErrNoState):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.As(err, &over) && over.Limit == "max-disk":
		return huma.NewError(http.StatusInsufficientStorage, err.Error())
	case errors.Is(err, crawls.ErrMany), over != nil:
		return huma.Error429TooManyRequests(err.Error())
	case errors.Is(err, crawls.ErrRuns), errors.Is(err, crawls.ErrLeaving), errors.Is(err, weft.ErrNotRunning), errors.Is(err, crawls.ErrOwn):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, syscall.ENOSPC):
		return huma.NewError(http.StatusInsufficientStorage, "the disk of the folder is full")
	case errors.Is(err, share.ErrFull):
		return huma.Error429TooManyRequests(err.Error())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return huma.Error503ServiceUnavailable("it takes too long: try again in a moment")
	}
	return huma.Error500InternalServerError(err.Error())
}

// statusOf has the statuses of pages that were not fetched; 0: 502, it is their server's.
var statusOf = map[scrape.Kind]int{
	scrape.KindMistake: http.StatusUnprocessableEntity, scrape.KindNoRendering: http.StatusUnprocessableEntity,
	scrape.KindBlocked: http.StatusForbidden, scrape.KindBusy: http.StatusTooManyRequests, scrape.KindCanceled: http.StatusServiceUnavailable,
	scrape.KindTimeout: http.StatusGatewayTimeout,
}

// refuse answers with an error of the API.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var known huma.StatusError
	if errors.As(err, &known) {
		status = known.GetStatus()
	}
	fail(w, status, err.Error())
}
