package serve

import (
	"context"
	"net/http"

	"github.com/weftcrawl/weft/internal/mcp"
	"github.com/weftcrawl/weft/internal/scrape"
)

// agents are the tools for agents, with the rights and limits of their tokens.
func (s *Server) agents(web *fetches) http.Handler {
	tools := mcp.New(mcp.Options{
		Pages: func(c mcp.Client) mcp.Pages { return agent{web, s.o.Tokens, c.Name} },
		Jobs:  s.o.Crawls.Dir(),
		Looks: s.reading,
		Crawls: mcp.NewCrawls(s.o.Crawls, func(c mcp.Client, asked map[string][]string) (map[string][]string, error) {
			return s.o.Plan(asked, s.o.Tokens.LimitsOf(c.Name))
		}),
	})
	return tools.Handler(func(r *http.Request) (mcp.Client, bool) {
		t := who(r.Context())
		if t == nil {
			return mcp.Client{}, false
		}
		return mcp.Client{Name: t.Name, Fetch: t.May(Fetch), Read: t.May(Read), Write: t.May(Write), Others: t.May(Others)}, true
	})
}

// agent requests pages in the name of the holder of a token.
type agent struct {
	web    *fetches
	tokens *Tokens
	name   string
}

func (a agent) as(ctx context.Context) context.Context {
	return context.WithValue(ctx, asks{}, &Token{Name: a.name, Limits: a.tokens.LimitsOf(a.name)})
}

func (a agent) Page(ctx context.Context, ask scrape.Ask) (*scrape.Result, error) {
	return a.web.Page(a.as(ctx), ask)
}

func (a agent) Map(ctx context.Context, ask scrape.MapAsk) (*scrape.Map, error) {
	return a.web.Map(a.as(ctx), ask)
}
