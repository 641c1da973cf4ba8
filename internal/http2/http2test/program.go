package http2test

// Program is a peer's actions in a fuzz target, a byte each. It is all zeros at its end.
type Program []byte

// Next returns the next byte.
func (p *Program) Next() int {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return int(b)
}

// OneOf returns what the next byte chooses.
func OneOf[T any](p *Program, all ...T) T { return all[p.Next()%len(all)] }
