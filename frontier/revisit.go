package frontier

import "time"

// Visit is what is known of a URL from when it was visited last: what a later visit
// compares its answer with. The frontier carries it and looks at nothing of it.
type Visit struct {
	Number  int       // of the visit of the job at which it answered last, from 1 on
	Change  string    // what was found then. See package weft
	At      time.Time // when that was
	First   time.Time // when it was first visited
	Changed time.Time // when it was last found new, or other than before

	Status   int      // of the last answer that came with what is below
	Redirect string   // where it led; empty: nowhere. From the Web
	Content  [32]byte // SHA-256 of the decoded body; zero: there was none
	Text     uint64   // of the page's text, as readers see it; 0: none was taken
	Bytes    int64    // received

	// Hashes of the fields of its header that say where it leads, and whether that is
	// followed; 0: there were none.
	Link, RobotsTag uint32

	// What a request sends back to be told whether that has changed, as it came; from
	// the Web, as Type is, the Content-Type. Empty: there is none.
	ETag, Modified string
	Type           string
}
