package check

import (
	"context"
	"fmt"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/weburl"
)

// ofJob takes the canonical rules of a job, and why it is only a part of what it is to crawl. If
// the job cannot say, those of the options hold.
func (o *Options) ofJob(ctx context.Context, dir string) {
	job, err := weft.OpenJob(ctx, dir)
	if err != nil {
		return
	}
	defer job.Close()
	s, err := job.Status(ctx)
	if err != nil {
		return
	}
	o.Canon, _ = weburl.ParseRules(s.Canon)
	if s.State != weft.JobFinished && s.State != weft.JobFailed {
		o.part = fmt.Sprintf("the crawl is %s, %s left", s.State, plural(s.Pending+s.InFlight, "URL"))
	}
}
