package links

import (
	"strings"

	"github.com/weftcrawl/weft/internal/markup"
)

// A Kind is the purpose of a link: a crawler decides by it which to follow, an audit which to
// count. The list is closed.
type Kind uint8

// The kinds.
const (
	KindPage      Kind = iota // a, area; an item of a feed: leads a reader on
	KindFrame                 // frame, iframe: a page within the page
	KindRedirect              // meta refresh
	KindCanonical             // rel=canonical
	KindAlternate             // rel=alternate: the page in another language or form
	KindFeed                  // rel=alternate of a type that is a feed; a feed's own address
	KindNext                  // rel=next of link or header
	KindPrev                  // rel=prev
	KindRelated               // link or header with another relation, or none
	KindImage                 // img, srcset, poster, icon, SVG's image and use, CSS's url()
	KindStyle                 // style sheet, @import
	KindScript                // script
	KindFont                  // url() of @font-face
	KindMedia                 // audio, video, source, track, a feed's enclosure
	KindEmbed                 // object, embed
	KindManifest              // rel=manifest: of a web application
	KindPreload               // rel=preload, modulepreload: what the page will need
	KindForm                  // action, formaction: where a form is sent
	KindPing                  // ping: what a browser tells that a link was followed
	KindCite                  // cite: the source of a quotation, or the reason of a change
	KindLazy                  // data-src, data-srcset: what a script loads when it is seen
	KindPreview               // the page's image elsewhere: og:image, twitter:image, in JSON-LD
	KindHint                  // preconnect, dns-prefetch, prefetch and so on: early work for a browser
	KindData                  // URLs in JSON-LD
	KindText                  // strings in scripts that look like a URL; see Options.Scripts
	numKinds
)

var kindNames = [numKinds]string{
	"page", "frame", "redirect", "canonical", "alternate", "feed", "next", "prev", "related",
	"image", "style", "script", "font", "media", "embed", "manifest", "preload", "form", "ping", "cite", "lazy", "preview", "hint", "data", "text",
}

// String returns the name of the kind, such as "page".
func (k Kind) String() string { return kindNames[k] }

// Kinds is a set of kinds.
type Kinds uint32

// KindsOf returns the set of these kinds.
func KindsOf(kinds ...Kind) (set Kinds) {
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Has reports whether k is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

const allKinds = Kinds(1<<numKinds - 1)

// relations maps relations to kinds. Of several relations the first in this order counts:
// "alternate stylesheet" is a style sheet.
// See https://html.spec.whatwg.org/multipage/links.html#linkTypes.
var relations = []struct {
	name string
	kind Kind
}{
	{"stylesheet", KindStyle},
	{"icon", KindImage},
	{"apple-touch-icon", KindImage},
	{"apple-touch-icon-precomposed", KindImage},
	{"mask-icon", KindImage},
	{"manifest", KindManifest},
	{"canonical", KindCanonical},
	{"alternate", KindAlternate},
	{"next", KindNext},
	{"prev", KindPrev},
	{"previous", KindPrev},
	{"preconnect", KindHint},
	{"dns-prefetch", KindHint},
	{"preload", KindPreload},
	{"modulepreload", KindPreload},
	{"prefetch", KindHint},
	{"prerender", KindHint},
}

// kindOfRel returns the kind of a link with the relations rel to a document of content type typ.
func kindOfRel(rel, typ []byte) Kind {
	best := len(relations)
	for word, rest := cutWord(rel); word != nil; word, rest = cutWord(rest) {
		for i := range best {
			if markup.EqualFold(word, relations[i].name) {
				best = i
				break
			}
		}
	}
	switch {
	case best == len(relations):
		return KindRelated
	case relations[best].kind == KindAlternate && isFeed(mediaType(string(typ))):
		return KindFeed
	}
	return relations[best].kind
}

func isFeed(mediaType string) bool {
	switch mediaType {
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json":
		return true
	}
	return false
}

// mediaType returns a content type without its parameters, in lower case.
func mediaType(contentType string) string {
	essence, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(essence))
}

// hasWord reports whether word, in lower case, is among the words of a list.
func hasWord(list []byte, word string) bool {
	for w, rest := cutWord(list); w != nil; w, rest = cutWord(rest) {
		if markup.EqualFold(w, word) {
			return true
		}
	}
	return false
}
