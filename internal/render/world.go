package render

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

//go:embed steps.js
var stepsScript string

// answerTime is the most time that a page takes to do what it is asked, frames included: on a busy
// machine, a frame takes seconds.
const answerTime = 15 * time.Second

// errSelector is the error of a selector that the browser cannot read.
var errSelector = errors.New("no selector")

// stepsOf is the place of the functions of steps.js in that world: an element of the page may have
// any name, but none is a symbol.
const stepsOf = "globalThis[Symbol.for('weft')]"

// ask calls a function of steps.js in the page. The world that it runs in sees the document, and
// none of the page's own globals; it is made when it is first asked for. A browser may lose frames
// that the function waits for: after a quarter of the page's time, it goes on without, and after
// less from then on, as the tab's next frames are lost, too.
func (r *run) ask(ctx context.Context, call string, result any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	patience := r.limits.Time / 4
	if r.tab.blind {
		patience = r.limits.Time / 100
	}
	late, _, stop := r.clocks.within(ctx, patience)
	defer stop()
	ended := make(chan struct{})
	drop := context.AfterFunc(late, func() {
		defer close(ended)
		if ctx.Err() == nil { // or its answerTime ends the step
			inWorld(ctx, r.tab.conn, r.tab.session, r.tab.target, stepsOf+"?.skip()", nil)
		}
	})
	err := r.evaluate(ctx, "("+stepsOf+" ??= "+stepsScript+").anew()."+call, result)
	if !drop() {
		r.tab.blind = true
		cancel() // nothing of it meets a later page of the tab
		<-ended
	}
	return err
}

// evaluate evaluates an expression in that world.
func (r *run) evaluate(ctx context.Context, expression string, result any) error {
	ctx, _, stop := r.clocks.within(ctx, answerTime)
	defer stop()
	return r.late(inWorld(ctx, r.tab.conn, r.tab.session, r.tab.target, expression, result))
}

// inWorld evaluates an expression in that world of a page, by its session and its main frame.
func inWorld(ctx context.Context, c *conn, session, frame, expression string, result any) error {
	var world struct {
		ExecutionContextID int
	}
	if err := c.call(ctx, session, "Page.createIsolatedWorld", map[string]string{"frameId": frame, "worldName": "weft"}, &world); err != nil {
		return err
	}
	var answer struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails *struct {
			Exception struct {
				Description string
			}
		}
	}
	err := c.call(ctx, session, "Runtime.evaluate", map[string]any{
		"expression": expression, "contextId": world.ExecutionContextID,
		"awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &answer)
	switch {
	case err != nil:
		return err
	case answer.ExceptionDetails != nil:
		said := answer.ExceptionDetails.Exception.Description
		if strings.HasPrefix(said, "SyntaxError") { // of querySelectorAll
			return fmt.Errorf("%w: %.512s", errSelector, said)
		}
		return fmt.Errorf("%.512s", said)
	case result == nil:
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}
