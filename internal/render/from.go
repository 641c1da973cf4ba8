package render

import (
	"slices"
	"strings"
)

// opaque is the origin of documents that have none, as browsers name it.
const opaque = "null"

// frames are those of a page, by their ids. Which documents ask by a frame is told from all that it
// has had: its requests and the events of its documents come in any order.
type frames struct {
	loading map[string]bool
	parents map[string]string
	origins map[string][]string // of its documents, and of the one that it is about to have
	all     []string            // of these, also of frames that are gone
}

func newFrames() frames {
	return frames{loading: make(map[string]bool), parents: make(map[string]string), origins: make(map[string][]string)}
}

// event takes an event of a frame.
func (f *frames) event(method, id, parent string) {
	switch method {
	case "Page.frameAttached":
		f.parents[id] = parent
	case "Page.frameStartedLoading":
		f.loading[id] = true
	case "Page.frameStoppedLoading":
		delete(f.loading, id)
	case "Page.frameDetached":
		delete(f.loading, id)
		delete(f.parents, id)
		delete(f.origins, id)
	}
}

// shows takes in that a frame has a document of an origin, or is about to.
func (f *frames) shows(id, origin string) {
	if !slices.Contains(f.origins[id], origin) {
		f.origins[id] = append(f.origins[id], origin)
	}
	if !slices.Contains(f.all, origin) {
		f.all = append(f.all, origin)
	}
}

// document takes in that a frame has a document with a URL, and with an origin by that. Blank ones
// and those of srcdoc are of whoever made them; one of an error asks for nothing.
func (f *frames) document(id, url, origin string) {
	switch {
	case strings.HasPrefix(origin, "http"):
		f.shows(id, origin)
	case !strings.HasPrefix(url, "about:") && !strings.HasPrefix(url, "chrome-error:"):
		f.shows(id, opaque)
	}
}

// requested takes in that a frame is to have a document with a URL. A document of a data: URL comes
// without a request, and its own requests may come before the event that tells of it.
func (f *frames) requested(id, url string) {
	if strings.HasPrefix(url, "data:") {
		f.shows(id, opaque)
	}
}

// from returns the origins of the documents that may have made a request of a frame; none: those
// of the page, whose frame is main. They are of all frames that it is in, as SameSite has it: those
// around a frame may put a blank document into it at any time.
func (f *frames) from(id, main string) (all []string) {
	for id != main {
		all = append(all, f.origins[id]...)
		parent, known := f.parents[id]
		if !known {
			return append(all, f.all...)
		}
		id = parent
	}
	return all
}
