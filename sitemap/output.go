package sitemap

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// output yields the entries of one sitemap, within the limits, and counts them.
type output struct {
	Result
	options Options
	yield   func(Entry) bool
	stopped bool // reading is over
	room    int  // bytes left for URLs

	urls     weburl.Resolver
	lastText string    // LastMod of the previous entry: a sitemap often repeats it
	lastTime time.Time // its Modified
}

// emit yields an entry with this URL, if it is usable.
func (o *output) emit(e Entry, url, lastMod []byte) {
	if o.stopped {
		return
	}
	if len(url) > o.options.MaxURL {
		o.Skipped++
		return
	}
	u, err := o.urls.Resolve(url)
	if err != nil || !u.IsHTTP() {
		o.Skipped++
		return
	}
	o.room -= len(u.String())
	switch {
	case o.Entries == o.options.MaxEntries:
		o.stop(fmt.Errorf("%w of %d entries", ErrLimit, o.options.MaxEntries))
		return
	case o.room < 0:
		o.stop(fmt.Errorf("%w of %d bytes of URLs", ErrLimit, 4*o.options.MaxSize))
		return
	}
	if string(lastMod) != o.lastText {
		o.lastText = string(lastMod)
		o.lastTime = parseTime(o.lastText)
	}
	e.URL, e.LastMod, e.Modified = u, o.lastText, o.lastTime
	o.Entries++
	o.stopped = !o.yield(e)
}

// stop ends the reading with an error.
func (o *output) stop(err error) {
	o.stopped = true
	if o.Err != nil {
		err = fmt.Errorf("%w; %w", o.Err, err)
	}
	o.Err = err
}
