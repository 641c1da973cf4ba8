package frontier

import "github.com/weftcrawl/weft/weburl"

// RequestKind is the kind of a question to the store.
type RequestKind uint8

const (
	// Lookup asks which of the Fingerprints were seen, and for all http and https origins with
	// these Names.
	Lookup RequestKind = iota + 1

	// Refill requests the first N pending URLs of Origin after a key, in order.
	Refill

	// Revive requests origins with pending URLs, or with retries if Tried is true. The store goes
	// through them by origin, from the first after Cursor, up to N different names; the page has
	// all origins with one of these names.
	Revive

	// Find requests those of the URLs that are pending, and all origins of their names.
	Find
)

// Request is something that the frontier needs from the store. The caller reads it and gives the
// page to Provide, exactly once.
type Request struct {
	Kind RequestKind

	Fingerprints [][16]byte // of a Lookup, ascending
	Names        []string   // of a Lookup, ascending

	Origin string   // of a Refill
	After  QueueKey // of a Refill

	Cursor string // of a Revive: an origin; empty: from the first on
	Tried  bool   // of a Revive

	URLs []weburl.URL // of a Find

	N int // of a Refill and a Revive, ≥ 1

	seal uint32 // the call of NoteOrigins whose batch has to be committed before; 0: any
}

// AfterCommit reports whether the request may only be read after everything that was recorded
// before it was made is committed. Others may be read at any time.
func (r Request) AfterCommit() bool { return r.Kind != Lookup }

// Page is the answer of the store to a request. It may be as old as the request allows; whatever
// has changed since, the frontier takes into account.
type Page struct {
	Request Request

	Seen []bool // of a Lookup: for each fingerprint whether the store has it

	Origins []StoredOrigin // of a Lookup, a Revive and a Find

	URLs []URL // of a Refill; fewer than N will do, but one at least if there are more; of a Find
	More bool  // of a Refill: others come after these

	Last string // of a Revive: the origin that was looked at last; empty: there is none after it
}
