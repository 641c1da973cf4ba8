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

// jsonKind returns the kind of a URL under a member of an object that stands under another one.
func jsonKind(member, outer string) Kind {
	if jsonImages[member] || member == "url" && jsonImages[outer] {
		return KindPreview
	}
	return KindData
}

// maxNested bounds the nesting of a JSON-LD document.
const maxNested = 64

// jsonDocument reads a document of JSON-LD.
func (x *Extractor) jsonDocument() { x.jsonLD("json", x.scan.Body) }

// jsonLD yields the URLs of JSON-LD (https://www.w3.org/TR/json-ld11/): strings, alone or in an
// array, under a member of jsonKeys, that are absolute URLs or begin with a slash. A name such as
// "_:b0" or "#me" is no link. Reading stops at an error.
func (x *Extractor) jsonLD(tag string, text []byte) {
	if !x.wants(KindData) && !x.wants(KindPreview) {
		return
	}
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
			if key := keys[len(open)]; jsonKeys[key] && isWrittenURL(token) {
				object := len(open)
				for object > 1 && open[object-1] == '[' { // its values belong to the same member
					object--
				}
				x.found(&Mention{Value: []byte(token), Tag: tag, Attr: key, Kind: jsonKind(key, keys[object-1]), from: text[at+int64(bytes.IndexByte(text[at:], '"'))+1:]})
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
