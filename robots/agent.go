package robots

import (
	"slices"
	"strings"
)

// Agent returns the rules of a crawler, named by its product token or by the User-Agent it
// sends, which begins with that token: "weft/0.1 (+https://example.org)". See [ProductToken].
func (r *Robots) Agent(name string) Rules {
	name = strings.ToLower(ProductToken(name))
	named := func(g group) bool { return slices.Contains(g.agents, name) }
	if tokenLength(name) < len(name) || name == "" || !slices.ContainsFunc(r.groups, named) {
		name = "*"
	}

	var rules Rules
	for _, g := range r.groups {
		at := slices.Index(g.agents, name)
		if at < 0 {
			continue
		}
		rules.rules = append(rules.rules, g.rules...)
		for _, d := range g.delays {
			if at < d.agents {
				rules.delay, rules.hasDelay = max(rules.delay, d.length), true
			}
		}
	}
	slices.SortFunc(rules.rules, byPrecedence)
	rules.rules = slices.Clip(rules.rules)
	rules.index = newIndex(rules.rules)
	return rules
}
