package links

import (
	"bytes"
	"encoding/json"

	"github.com/weftcrawl/weft/internal/markup"
)

// jsonKeys are the members whose values are or may be URLs: JSON-LD's own and the most frequent
// of schema.org.
var jsonKeys = map[string]bool{
	"@id": true, "url": true, "sameAs": true, "contentUrl": true, "embedUrl": true, "thumbnailUrl": true, "image": true,
	"logo": true, "thumbnail": true, "mainEntityOfPage": true, "item": true, "downloadUrl": true, "installUrl": true,
}

// jsonImages are the members whose values are images, or objects that have the image as url.
var jsonImages = map[string]bool{"image": true, "logo": true, "thumbnail": true, "thumbnailUrl": true, "contentUrl": true, "primaryImageOfPage": true}

// jsonKind returns the kind of a URL under a member of an object that stands under another one; ok
// is false if the member has none.
func jsonKind(member, outer string) (_ Kind, ok bool) {
	if !jsonKeys[member] {
		return 0, false
	}
	if jsonImages[member] || member == "url" && jsonImages[outer] {
		return KindPreview, true
	}
	return KindData, true
}

// maxNested bounds the nesting of a document.
const maxNested = 64

// jsonFeedKinds are the members of JSON Feed (https://www.jsonfeed.org/version/1.1/) whose values
// are URLs.
var jsonFeedKinds = map[string]Kind{
	"home_page_url": KindPage, "feed_url": KindFeed, "next_url": KindNext, "url": KindPage, "external_url": KindPage,
	"image": KindImage, "banner_image": KindImage, "icon": KindImage, "favicon": KindImage, "avatar": KindImage,
}

// jsonFeedURLs are the kinds of the member url of objects that are no entries.
var jsonFeedURLs = map[string]Kind{"attachments": KindMedia, "authors": KindRelated, "author": KindRelated, "hubs": KindHint}

// jsonFeedKind is to JSON Feed what jsonKind is to JSON-LD.
func jsonFeedKind(member, outer string) (Kind, bool) {
	if kind, ok := jsonFeedURLs[outer]; ok && member == "url" {
		return kind, true
	}
	kind, ok := jsonFeedKinds[member]
	return kind, ok
}

// jsonDocument reads a document of JSON-LD.
func (x *Extractor) jsonDocument() { x.jsonLD("json", x.scan.Body) }

// jsonFeed reads a JSON Feed.
func (x *Extractor) jsonFeed() { x.json("json", x.scan.Body, jsonFeedKind) }

// jsonLD yields the URLs of JSON-LD (https://www.w3.org/TR/json-ld11/). A name such as "_:b0" or
// "#me" is no link.
func (x *Extractor) jsonLD(tag string, text []byte) {
	if x.wants(KindData) || x.wants(KindPreview) {
		x.json(tag, text, jsonKind)
	}
}

// json yields the URLs of a document: strings, alone or in an array, under a member that kindOf
// knows, that are absolute URLs or begin with a slash. Reading stops at an error.
func (x *Extractor) json(tag string, text []byte, kindOf func(member, outer string) (Kind, bool)) {
	var open []byte // open brackets
	var keys [maxNested + 1]string
	isKey := false // the next string is a name, not a value
	if hides := bytes.TrimLeft(text, " \t\r\n"); bytes.HasPrefix(hides, []byte("<!")) || bytes.HasPrefix(hides, []byte("//")) {
		_, text, _ = bytes.Cut(hides, []byte("\n")) // a line that hid scripts from old readers
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	for !x.stopped {
		at := dec.InputOffset()
		token, err := dec.Token()
		if err != nil {
			return
		}
		switch token := token.(type) {
		case json.Delim:
			switch {
			case token == '{' || token == '[':
				if len(open) == maxNested {
					return
				}
				key := ""
				if token == '[' { // its values belong to the same member
					key = keys[len(open)]
				}
				open = append(open, byte(token))
				keys[len(open)] = key
			default:
				open = open[:len(open)-1]
			}
			isKey = len(open) > 0 && open[len(open)-1] == '{'
			continue
		case string:
			if isKey {
				keys[len(open)], isKey = token, false
				continue
			}
			key, object := keys[len(open)], len(open)
			for object > 1 && open[object-1] == '[' { // its values belong to the same member
				object--
			}
			if kind, ok := kindOf(key, keys[max(0, object-1)]); ok && isWrittenURL(token) {
				x.found(&Mention{Value: []byte(token), Tag: tag, Attr: key, Kind: kind, from: text[at+int64(bytes.IndexByte(text[at:], '"'))+1:]})
			}
		}
		isKey = len(open) > 0 && open[len(open)-1] == '{'
	}
}

// isWrittenURL reports whether a string that may be something else looks like a URL.
func isWrittenURL(s string) bool {
	return len(s) <= maxValue && (len(s) > 1 && s[0] == '/' ||
		len(s) > len("http://") && markup.EqualFold(s[:len("http://")], "http://") ||
		len(s) > len("https://") && markup.EqualFold(s[:len("https://")], "https://"))
}
