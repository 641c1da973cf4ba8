package render

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Steps are those of a page before it is read. The zero value is none.
type Steps struct {
	Wait   Wait
	Scroll int    // screens to scroll by at most, until nothing new comes
	Click  string // CSS selector of elements to click, until they are gone or bring nothing new
}

// any reports whether there are steps in the page.
func (s Steps) any() bool { return s.Scroll > 0 || s.Click != "" || s.Wait.Selector != "" }

// Wait is the sign that a page has come as far as it should: one of these, or neither.
type Wait struct {
	Selector string        // CSS: an element that matches is there
	Time     time.Duration // of virtual time has passed; 0: Limits.Virtual
}

// ParseWait reads a duration, such as 5s, or a selector. A type selector never begins with a digit.
func ParseWait(text string) (Wait, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Wait{}, errors.New("expected a CSS selector such as .results, or a duration such as 5s")
	}
	if first := strings.TrimPrefix(text, "-"); first == "" || first[0] < '0' || first[0] > '9' {
		if err := CheckSelector(text); err != nil {
			return Wait{}, err
		}
		return Wait{Selector: text}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > longestWait {
		return Wait{}, fmt.Errorf("expected a duration of at most %s, such as 5s, or a CSS selector such as .results", "1h")
	}
	return Wait{Time: d}, nil
}

const (
	longestWait = time.Hour              // of virtual time
	waitFor     = 30 * time.Second       // of virtual time, the most for an element to come
	waitStep    = 500 * time.Millisecond // of virtual time, between two looks for it
	stepTime    = 300 * time.Millisecond // of virtual time, for what a step brings
	endTime     = time.Second            // the same at an end: handlers may wait
	mostClicks  = 200
)

// wait lets virtual time pass until the page has come as far as it should. Of it, passed has.
func (r *run) wait(ctx context.Context, passed, most time.Duration) error {
	selector := r.page.Steps.Wait.Selector
	switch {
	case selector == "" && most == passed:
		return nil
	case selector == "":
		return r.pass(ctx, most-passed)
	}
	for ; ; passed += waitStep {
		var found bool
		if err := r.ask(ctx, "has("+string(quoted(selector))+")", &found); err != nil {
			return r.unmatched(err)
		}
		if found {
			return nil
		}
		if passed >= waitFor {
			r.update(func() { r.doc.Cut = cutWait })
			return errCut
		}
		if err := r.pass(ctx, waitStep); err != nil {
			return r.unmatched(err)
		}
	}
}

// unmatched says that time was up before an element came.
func (r *run) unmatched(err error) error {
	r.update(func() {
		if r.doc.Cut == cutTime {
			r.doc.Cut = cutWait
		}
	})
	return err
}

// walk scrolls and clicks until neither brings anything new.
func (r *run) walk(ctx context.Context) error {
	steps := r.page.Steps
	if steps.Scroll > 0 {
		if err := r.ask(ctx, "open()", nil); err != nil {
			return err
		}
	}
	for screens, clicks := steps.Scroll, mostClicks; ; {
		left, err := r.scroll(ctx, screens)
		if err != nil {
			return err
		}
		screens = left
		more, err := r.click(ctx, clicks)
		if err != nil {
			return err
		}
		if clicks -= more; more == 0 || screens == 0 {
			return r.keepDropped(ctx)
		}
	}
}

// keepDropped notes the links of what a list has shown, and dropped again when it was out of view.
func (r *run) keepDropped(ctx context.Context) error {
	var links []string
	if err := r.ask(ctx, "dropped()", &links); err != nil {
		return err
	}
	r.update(func() {
		for _, link := range links {
			r.target(link)
		}
	})
	return nil
}

// scroll scrolls by at most so many screens, until the page ends. It returns how many are left.
func (r *run) scroll(ctx context.Context, screens int) (left int, err error) {
	for ; screens > 0; screens-- {
		var before, after int
		var moved bool
		if err := r.ask(ctx, "size()", &before); err != nil {
			return 0, err
		}
		if err := r.ask(ctx, "scroll()", &moved); err != nil {
			return 0, err
		}
		if !moved {
			if err := r.comeAgain(ctx); err != nil {
				return 0, err
			}
		}
		if err := r.pass(ctx, stepTime); err != nil {
			return 0, err
		}
		if err := r.drawFrames(ctx); err != nil {
			return 0, err
		}
		if moved {
			continue
		}
		if err := r.ask(ctx, "size()", &after); err != nil {
			return 0, err
		}
		if after <= before {
			return screens, nil
		}
	}
	return 0, nil
}

// comeAgain leaves the end of the page for a moment: an element that stays in view there may call
// for more when it comes into view.
func (r *run) comeAgain(ctx context.Context) error {
	for _, call := range []string{"scroll(true)", "scroll()"} {
		if err := r.ask(ctx, call, nil); err != nil {
			return err
		}
		if err := r.pass(ctx, endTime); err != nil {
			return err
		}
	}
	return nil
}

// drawFrames has the page drawn, and lets what it does then come to an end. Between two frames, its
// observers are to be heard: what comes into view and has just left it would be one event to them.
func (r *run) drawFrames(ctx context.Context) error {
	if err := r.ask(ctx, "draw()", nil); err != nil {
		return err
	}
	return r.pass(ctx, stepTime)
}

// click clicks at most so often. It returns how many clicks have brought something.
func (r *run) click(ctx context.Context, most int) (brought int, err error) {
	if r.page.Steps.Click == "" {
		return 0, nil
	}
	for ; most > 0; most-- {
		var found, grew bool
		if err := r.ask(ctx, "click("+string(quoted(r.page.Steps.Click))+")", &found); err != nil || !found {
			return brought, err
		}
		if err := r.pass(ctx, endTime); err != nil {
			return brought, err
		}
		if err := r.ask(ctx, "clicked()", &grew); err != nil {
			return brought, err
		}
		if grew {
			brought++
		}
	}
	return brought, nil
}
