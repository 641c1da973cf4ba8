package crawls

import "fmt"

// Limits are those of one user. 0: none.
type Limits struct {
	Running int   // crawls at a time
	Queued  int   // crawls that wait
	Disk    int64 // bytes of the files of all crawls
}

// OverLimit is the error of what leads beyond a limit of a user.
type OverLimit struct {
	Limit string // "max-queued" or "max-disk"
	Has   int64
	May   int64
}

func (o *OverLimit) Error() string {
	if o.Limit == "max-disk" {
		return fmt.Sprintf("%s, the limit of the token: its crawls take %.1f MiB, and may take %.1f: delete some", o.Limit, float64(o.Has)/(1<<20), float64(o.May)/(1<<20))
	}
	return fmt.Sprintf("%s, the limit of the token: %d of its crawls wait, and %d may: try again later", o.Limit, o.Has, o.May)
}

// ownPart is the part of the crawls of a folder that one user may have: he keeps nobody out.
const ownPart = 4

// ownOf counts the crawls of a user.
func ownOf(by string, all map[string]*entry) (n int) {
	for _, e := range all {
		if e.By == by {
			n++
		}
	}
	return n
}

// admit refuses one more crawl of a user that waits, by his limits.
func admit(by string, l Limits, all map[string]*entry) error {
	waiting, bytes := int64(0), int64(0)
	for _, e := range all {
		if e.By != by {
			continue
		}
		bytes += e.then.size.bytes
		if e.State == Queued && !e.Stopping {
			waiting++
		}
	}
	switch {
	case l.Queued > 0 && waiting >= int64(l.Queued):
		return &OverLimit{"max-queued", waiting, int64(l.Queued)}
	case l.Disk > 0 && bytes >= l.Disk:
		return &OverLimit{"max-disk", bytes, l.Disk}
	}
	return nil
}
