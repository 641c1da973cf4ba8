package render

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"
)

//go:embed steps.js
var stepsScript string

// answerTime is the most time that a page takes to do what it is asked, two frames included.
const answerTime = 5 * time.Second

// ask calls a function of steps.js in the page. The world that it runs in sees the document, and
// none of the page's own globals; it is made when it is first asked for.
func (r *run) ask(ctx context.Context, call string, result any) error {
	return r.evaluate(ctx, "(globalThis.weft ??= "+stepsScript+")."+call, result)
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
		return fmt.Errorf("%.512s", answer.ExceptionDetails.Exception.Description)
	case result == nil:
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}
