package inspect

import (
	"errors"
	"strconv"
	"strings"
)

// ParseStatuses reads statuses and ranges of them, such as 404,5xx or 400..499.
func ParseStatuses(s string) (all []StatusRange, err error) {
	for one := range strings.SplitSeq(s, ",") {
		r := statusRange(strings.TrimSpace(one))
		if r.From < 100 || r.To < r.From {
			return nil, errors.New("expected one such as 404, 4xx, 500..599 or 404,410")
		}
		all = append(all, r)
	}
	return all, nil
}

// statusRange reads 404, 4xx, 500..599 or 500-599; what is none of them has a status below 100.
func statusRange(s string) StatusRange {
	from, to, isRange := strings.Cut(strings.Replace(s, "..", "-", 1), "-")
	switch class, isClass := strings.CutSuffix(strings.ToLower(s), "xx"); {
	case isClass:
		from, to = class+"00", class+"99"
	case !isRange:
		to = from
	}
	code := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil || len(s) != 3 {
			return 0
		}
		return n
	}
	return StatusRange{From: code(from), To: code(to)}
}
