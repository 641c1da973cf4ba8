package live

import (
	"context"
	"errors"
	"net/http"

	"github.com/weftcrawl/weft"
)

// inJob opens the job for a request.
func (s *Server) inJob(ctx context.Context, look func(*weft.Job) error) error {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return problem(http.StatusServiceUnavailable, "others read the job, try again in a moment")
	}
	job, err := weft.OpenJob(ctx, s.dir)
	if err != nil {
		return err
	}
	return errors.Join(look(job), job.Close())
}
