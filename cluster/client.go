package cluster

import "context"

// Client is a connection to the servers of a crawl, for people who look at it and steer it.
type Client struct{ remote *remote }

// Dial connects to the servers of a crawl. Its error is one line.
func Dial(ctx context.Context, o Options) (*Client, error) {
	r, err := dial(ctx, &o)
	if err != nil {
		return nil, err
	}
	return &Client{r}, nil
}

// Close ends the connection.
func (c *Client) Close() { c.remote.servers.close() }

// Plan returns the plan of the crawl, or ErrNoCrawl.
func (c *Client) Plan(ctx context.Context) (Plan, error) { return c.remote.plan(ctx) }
