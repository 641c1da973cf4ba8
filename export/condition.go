package export

import "github.com/weftcrawl/weft/internal/where"

// compile reads a condition; the empty one selects all.
func compile[T any](condition string) (*where.Filter[T], error) {
	if condition == "" {
		return nil, nil
	}
	filter, err := where.Compile[T](condition)
	if err != nil {
		return nil, &OptionError{"where", condition, err}
	}
	return filter, nil
}

// matches reports whether a condition holds for a row. Errors: *OptionError, where it cannot be
// told.
func matches[T any](filter *where.Filter[T], condition string, row *T) (bool, error) {
	holds, err := filter.Matches(row)
	if err != nil {
		err = &OptionError{"where", condition, err}
	}
	return holds, err
}
