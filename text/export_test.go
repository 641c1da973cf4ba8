package text

import "github.com/weftcrawl/weft/links"

// Whole is the fingerprint of all of a page, furniture and what says when included.
func Whole(body []byte) Fingerprint {
	var r Reader
	r.begin(parts{whole: true, broken: true})
	links.NewExtractor(links.Options{}).Extract(links.Document{ContentType: "text/html", Body: body, Text: (*listener)(&r)}, nil)
	return r.end()
}
