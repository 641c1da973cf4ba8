package archive

import "github.com/weftcrawl/weft/warc"

// Read opens the record of a capture. It has to be closed.
func (a *Archive) Read(c Capture) (*Record, error) {
	r, err := c.read()
	if err != nil {
		return nil, c.where(err)
	}
	if r.Record.Type() == warc.Revisit {
		if err := a.follow(r); err != nil {
			r.Close()
			return nil, c.where(err)
		}
	}
	return r, nil
}
