package mcp

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// Bounds of a look at a job.
const (
	lookFor  = 25 * time.Second // then a part of a search ends
	listFor  = 2 * time.Second  // jobs beyond are listed without a look at their state
	checkFor = 2 * time.Minute
	waitFor  = 50 * time.Second
)

// inJob has fn look at a job.
func (t *tools) inJob(ctx context.Context, name string, most time.Duration, fn func(context.Context, string) error) error {
	dir, err := t.find(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	leave, err := t.Looks.Enter(ctx)
	if err != nil {
		return wrong("others look at jobs: try again later")
	}
	defer leave()
	if err := fn(ctx, dir); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return wrong("the job is too large for this: the time is over")
		}
		return err
	}
	return nil
}

// opened has fn use an open job.
func (t *tools) opened(ctx context.Context, name string, fn func(context.Context, *weft.Job) error) error {
	return t.inJob(ctx, name, lookFor, func(ctx context.Context, dir string) error {
		job, err := weft.OpenJob(ctx, dir)
		if err != nil {
			return err
		}
		return errors.Join(fn(ctx, job), job.Close())
	})
}

// JobPart names a job.
type JobPart struct {
	Job string `json:"job" jsonschema:"name of the job, as crawl returns it or status lists it"`
}

// errEnough ends a search: there is no room or time for more.
var errEnough = errors.New("enough")

// overRecords goes through the last records of a job, from the place of a cursor on, as long as fn
// has no error and there is time.
func (t *tools) overRecords(ctx context.Context, job string, p Part, fn func(*record.Record, *results.Bodies) error) (*answer, error) {
	from := 0
	if p.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(p.Cursor); err != nil || from < 0 {
			return nil, wrong("cursor %.64q, expected one of an earlier answer", p.Cursor)
		}
	}
	a := new(answer)
	err := t.inJob(ctx, job, checkFor, func(ctx context.Context, dir string) error {
		bodies, err := results.OpenBodies(dir)
		if err != nil {
			return err
		}
		defer bodies.Close()
		n, looked := 0, 0
		late := time.Now().Add(searchFor)
		for r, err := range results.Last(ctx, dir, 0, "") {
			if err != nil {
				return err
			}
			if n++; n <= from {
				continue
			}
			err = errEnough
			if time.Now().Before(late) {
				err = fn(r, bodies)
			}
			if errors.Is(err, errEnough) && looked > 0 {
				a.next = strconv.Itoa(n - 1)
				break
			}
			if err != nil && !errors.Is(err, errEnough) {
				return err
			}
			looked++
		}
		a.say("Looked at %d URLs of the job, from number %d on.", looked, from+1)
		if a.next == "" {
			a.say("These are all.")
		}
		return nil
	})
	return a, err
}
