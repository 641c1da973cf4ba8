package check

import (
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// madeUp begins the last segment of a path that no site has.
const madeUp = "weft-no-such-page-"

// MadeUp returns a URL, in the folder of a seed, that no site has: the response to it tells how the
// site says that a page is missing. A job that has requested it finds pages that say so with a status
// of 200. It is the same for the same seed.
func MadeUp(seed weburl.URL) (weburl.URL, error) {
	sum := seed.Fingerprint()
	return seed.Resolve(madeUp + hex.EncodeToString(sum[:6]))
}

func isMadeUp(u weburl.URL) bool { return strings.HasPrefix(path.Base(u.Path()), madeUp) }

// textOf returns a hash of what a page says; never 0.
func textOf(r *record.Record) uint64 {
	if hash, err := strconv.ParseUint(r.TextHash, 16, 64); err == nil && hash != 0 {
		return hash
	}
	return Anchor(r.SHA256)
}

// mark marks the pages that say that they are missing. A site whose seeds say the same as a made-up
// URL says it for every URL, as applications in scripts do: nothing can be told of its pages.
func (t *targets) mark() {
	for i := range t.all {
		if n := &t.all[i]; n.flags&isSeed != 0 {
			delete(t.missing, n.text)
		}
	}
	for i := range t.all {
		if n := &t.all[i]; n.flags&isPage != 0 && t.missing[n.text] {
			n.flags |= isMissing | hasIssue
		}
	}
}
