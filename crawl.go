package weft

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// Crawl crawls, and yields each page as it comes: every whole response that is no redirect,
// whatever its status. A URL that failed is yielded as its record and a *FetchError. What ends the
// crawl as a whole comes last, with a nil page.
//
// A page is valid until the next iteration. While the body of the loop works, the crawl continues
// with other pages, up to Concurrency of them. Leaving the loop ends the crawl and leaves nothing
// behind. Hooks of o are called as well.
func Crawl(ctx context.Context, o Options) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		it := iteration{hooks: o.Hooks, pages: make(chan *Page), seen: make(chan struct{}), failed: make(chan struct{}, 1)}
		o.Hooks.OnPage, o.Hooks.OnError = it.onPage, it.onError
		c, err := New(o)
		if err != nil {
			yield(nil, err)
			return
		}
		ctx, stop := context.WithCancelCause(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err = c.Run(ctx)
		}()
		defer func() { // however the loop is left
			stop(errLeft)
			<-ended
		}()
		for {
			select {
			case p := <-it.pages:
				if ctx.Err() != nil {
					it.seen <- struct{}{}
				} else if !it.show(p, yield) {
					return
				}
			case <-it.failed:
				if !it.yieldErrors(yield) {
					return
				}
			case <-ended:
				if it.yieldErrors(yield) && err != nil {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// iteration is between a crawl and the loop over Crawl.
type iteration struct {
	hooks Hooks         // of the user
	pages chan *Page    // one at a time, each answered by seen
	seen  chan struct{} // the loop has come round

	failed chan struct{} // there are errors
	mu     struct {
		sync.Mutex
		errors []*Record // OnError must not block: they wait here
	}
}

func (it *iteration) onPage(ctx context.Context, p *Page) error {
	if it.hooks.OnPage != nil {
		if err := it.hooks.OnPage(ctx, p); err != nil {
			return err
		}
	}
	if ctx.Err() != nil { // the loop must not be handed a page by chance
		return ctx.Err()
	}
	select {
	case it.pages <- p:
		<-it.seen
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// show yields a page, which is the loop's until it comes round.
func (it *iteration) show(p *Page, yield func(*Page, error) bool) bool {
	defer func() { it.seen <- struct{}{} }()
	return yield(p, nil)
}

func (it *iteration) onError(r *Record) {
	if it.hooks.OnError != nil {
		it.hooks.OnError(r)
	}
	it.mu.Lock()
	it.mu.errors = append(it.mu.errors, r)
	it.mu.Unlock()
	select {
	case it.failed <- struct{}{}:
	default:
	}
}

func (it *iteration) yieldErrors(yield func(*Page, error) bool) bool {
	it.mu.Lock()
	records := it.mu.errors
	it.mu.errors = nil
	it.mu.Unlock()
	for _, r := range records {
		if !yield(&Page{Record: r}, &FetchError{r}) {
			return false
		}
	}
	return true
}

var errLeft = errors.New("weft: the loop over Crawl was left")
