package check

// room is space on disk, in bytes, for what documents give rise to. A document gets an eighth of
// what is left, so that hostile ones leave some for the others.
type room struct {
	left int
	own  int // of the document that is being read
}

const share = 8

func roomOf(bytes int) room { return room{bytes, bytes} }

// open gives a document its share.
func (r *room) open() { r.own = r.left / share }

// close ends a document: what follows belongs to none, and may take all that is left.
func (r *room) close() { r.own = r.left }

// take takes a number of bytes, and reports whether there were as many.
func (r *room) take(n int) bool {
	if n > r.own {
		return false
	}
	r.own -= n
	r.left -= n
	return true
}
