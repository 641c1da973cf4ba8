package render

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Screenshot is the part of a page that its picture shows.
type Screenshot string

// Screenshots.
const (
	ScreenshotNone     Screenshot = ""
	ScreenshotViewport Screenshot = "viewport" // the first screen
	ScreenshotFull     Screenshot = "full"     // the page from top to bottom
)

// The viewport of a page, in CSS pixels.
const (
	viewportWidth  = 1280
	viewportHeight = 800
)

// Bounds on pictures.
const (
	mostHeight  = 16384            // CSS pixels of a full screenshot: no surface of Chromium is longer
	mostPages   = 200              // of a PDF
	pictureTime = 30 * time.Second // of both; that of a long page takes seconds
)

// IsSeen reports whether the page is for eyes: then it needs its images, media and fonts.
func (p *Page) IsSeen() bool { return p.Screenshot != ScreenshotNone || p.PDF }

// picture takes what is asked of screenshot and PDF. What cannot be taken leaves the document
// whole: Document.Missing says why. An error says that another browser may.
func (r *run) picture(ctx context.Context) error {
	if !r.page.IsSeen() {
		return nil
	}
	if r.stands() {
		r.missing("the page", r.pose(ctx))
	}
	// The page may have used up its own time.
	ctx, _, stop := r.clocks.within(context.WithoutCancel(ctx), pictureTime)
	defer stop()
	if r.page.Screenshot != ScreenshotNone {
		png, err := r.screenshot(ctx)
		switch {
		case errors.Is(err, errGone):
			return err
		case errors.Is(err, errLate) && !r.how.alone: // any page may be the reason
			return errUndrawn
		}
		r.missing("the screenshot", err)
		r.update(func() { r.doc.Screenshot = png })
	}
	if r.page.PDF {
		pdf, err := r.print(ctx)
		r.missing("the PDF", err)
		r.update(func() { r.doc.PDF = pdf })
	}
	return nil
}

// stands reports whether the page has reached no limit.
func (r *run) stands() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doc.Cut == ""
}

func (r *run) missing(what string, err error) {
	if err != nil && err != errCut {
		r.update(func() { r.doc.Missing = fmt.Sprintf("%s: %.512s", what, err) })
	}
}

// pose makes the page ready: at its top, with images that wait to come into view.
func (r *run) pose(ctx context.Context) error {
	height := mostHeight
	if r.page.Screenshot == ScreenshotViewport && !r.page.PDF {
		height = 0
	}
	if err := r.ask(ctx, fmt.Sprintf("pose(%d)", height), nil); err != nil {
		return err
	}
	if err := r.pass(ctx, endTime); err != nil {
		return err
	}
	return r.ask(ctx, "draw()", nil)
}

// screenshot returns the page as a PNG.
func (r *run) screenshot(ctx context.Context) ([]byte, error) {
	t := r.tab
	height := float64(viewportHeight)
	if r.page.Screenshot == ScreenshotFull {
		var metrics struct {
			CSSContentSize struct {
				Height float64
			}
		}
		if err := t.conn.call(ctx, t.session, "Page.getLayoutMetrics", nil, &metrics); err != nil {
			return nil, err
		}
		height = min(max(height, metrics.CSSContentSize.Height), mostHeight)
	}
	var shot struct {
		Data []byte
	}
	err := t.conn.call(ctx, t.session, "Page.captureScreenshot", map[string]any{
		"format": "png", "captureBeyondViewport": r.page.Screenshot == ScreenshotFull,
		"clip": map[string]any{"x": 0, "y": 0, "width": viewportWidth, "height": height, "scale": 1},
	}, &shot)
	return shot.Data, err
}

// print returns the page as a PDF, on A4 unless its styles say otherwise.
func (r *run) print(ctx context.Context) ([]byte, error) {
	var pdf struct {
		Data []byte
	}
	t := r.tab
	wait, err := t.conn.start(t.session, "Page.printToPDF", fmt.Appendf(nil,
		`{"printBackground":true,"preferCSSPageSize":true,"paperWidth":8.27,"paperHeight":11.69,"pageRanges":"1-%d"}`, mostPages), &pdf)
	if err != nil {
		return nil, err
	}
	// What is lazy still is loaded for paper, which takes page time.
	if err := r.grant(ctx, endTime); err != nil {
		return nil, err
	}
	err = wait(ctx)
	return pdf.Data, err
}
