package fingerprint

import "github.com/weftcrawl/weft/links"

// Whole returns the fingerprint of a whole page, furniture and stamps included.
func Whole(body []byte) Fingerprint {
	var r Reader
	r.begin(parts{whole: true, broken: true}, nil)
	links.NewExtractor(links.Options{}).Extract(links.Document{ContentType: "text/html", Body: body, Text: (*listener)(&r)}, nil)
	return r.end()
}
