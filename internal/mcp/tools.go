package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tools are those of one client.
type tools struct {
	Options
	client   Client
	server   *sdk.Server
	canFetch bool
	web      Pages
	jobs     folder // empty: there are none
}

// sees reports whether a job is there for the client: its own crawl, or any with the right to those
// of others.
func (t *tools) sees(job string) bool {
	return t.client.Others || t.Crawls != nil && t.Crawls.Sees(t.client, strings.TrimSuffix(job, jobEnd))
}

// find returns the path of a job that is there for the client.
func (t *tools) find(job string) (string, error) {
	path, err := t.jobs.find(job)
	if err == nil && !t.sees(job) {
		return "", unknown(job)
	}
	return path, err
}

// asks is the effect of a tool on the world.
type asks int

const (
	reads   asks = iota // of files on the disk
	fetches             // from servers of others
	writes              // keeps what it fetches
)

// add adds a tool. Its function returns an answer, or an error that the agent is to see.
func add[In any](t *tools, how asks, name, title, description string, f func(context.Context, In) (*answer, error)) {
	open, destructive := how != reads, false
	sdk.AddTool(t.server, &sdk.Tool{
		Name: name, Title: title, Description: description, InputSchema: schemaOf[In](),
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: how != writes, OpenWorldHint: &open, DestructiveHint: &destructive},
	}, func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		ctx, cancel := withCarrier(ctx)
		defer cancel()
		stop := progress(ctx, r, name)
		defer stop()
		a, err := f(ctx, in)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			return failure(ctx, err), nil, nil
		}
		return a.result(ctx), nil, nil
	})
}

// schemaOf returns the schema of arguments. A list that is not given is no null: some programs know
// one type for an argument.
func schemaOf[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil // the SDK says what is wrong with it
	}
	for _, p := range s.Properties {
		if i := slices.Index(p.Types, "null"); i >= 0 && len(p.Types) == 2 {
			p.Type, p.Types = p.Types[1-i], nil
		}
	}
	return s
}

// progressEvery is the time between two messages on a call that takes long.
const progressEvery = 2 * time.Second

// progress tells a client that asks for it that a call goes on, until stop is called.
func progress(ctx context.Context, r *sdk.CallToolRequest, name string) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	began, done := time.Now(), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case now := <-tick.C:
				seconds := now.Sub(began).Seconds()
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: seconds, Message: name + ": under way"})
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
