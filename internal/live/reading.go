package live

import (
	"context"
	"errors"
	"net/http"

	"github.com/weftcrawl/weft"
)

// enter waits for others that read.
func (s *Server) enter(ctx context.Context) (leave func(), err error) {
	if leave, err = s.reading.Enter(ctx); err != nil {
		err = problem(http.StatusServiceUnavailable, "others read the job, try again in a moment")
	}
	return leave, err
}

// forAll is a context for what all who look share: it does not end with one of them.
func forAll(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lookTakes)
}

// inJob opens the job for a request.
func (s *Server) inJob(ctx context.Context, look func(*weft.Job) error) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	job, err := weft.OpenJob(ctx, s.dir)
	if err != nil {
		return err
	}
	return errors.Join(look(job), job.Close())
}
