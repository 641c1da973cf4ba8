package httpclient

// Limits of the responses that Responses returns.
const (
	TestMaxHead = testMaxHead
	TestMaxBody = testMaxBody
)

// ResponseCase is a case of the table, for tests that see only the exported API.
type ResponseCase struct {
	Name, Raw, Rest, Body string
	Kind                  Kind
	Status                int
	Head, End             bool
}

// Responses returns the table.
func Responses() (all []ResponseCase) {
	for _, c := range responses {
		all = append(all, ResponseCase{c.name, xs(c.raw), c.rest, c.body, c.kind, max(c.status, 200), c.head, c.end})
	}
	return all
}

// Idle returns how many connections c keeps.
func (c *Client) Idle() int { return c.idle.n }
