package http1

// Limits of the answers that Answers returns.
const (
	TestMaxHead = testMaxHead
	TestMaxBody = testMaxBody
)

// Answer is one of the table, for tests that see only what the package exports.
type Answer struct {
	Name, Raw, Rest, Body string
	Kind                  Kind
	Status                int
	Head, End             bool
}

func Answers() (all []Answer) {
	for _, c := range answers {
		all = append(all, Answer{c.name, xs(c.raw), c.rest, c.body, c.kind, max(c.status, 200), c.head, c.end})
	}
	return all
}
