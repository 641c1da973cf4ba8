package weburl

// A crawl knows a POST request by a URL that nothing else has: the canonical form of the URL that
// is requested, and a fragment with a digest of the request's body, as in
// https://example.org/search#POST-9f86d081884c7d65. No canonical URL has a fragment, none is sent,
// and relative references resolve against the URL without it.

// postMark begins such a fragment, and postDigest hexadecimal digits end it.
const (
	postMark   = "POST-"
	postDigest = 16
)

// WithPost returns the URL by which a POST to b is known, with a digest of 16 hexadecimal digits.
func (b URL) WithPost(digest string) URL {
	b.canonicalise()
	b.href += "#" + postMark + digest
	return b
}

// Post returns the digest of a URL by which a POST is known; "" of any other.
func (b *URL) Post() string {
	if len(b.href)-int(b.fragmentAt) != len("#")+len(postMark)+postDigest {
		return ""
	}
	fragment := b.href[b.fragmentAt+1:]
	digest := fragment[len(postMark):]
	if fragment[:len(postMark)] != postMark {
		return ""
	}
	for i := range len(digest) {
		if c := digest[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return digest
}

// Identity is Canonical, but that of a POST stays that of the POST.
func (b URL) Identity() URL { return RuleSet(0).Identity(b) }

// Identity is Apply, but the URL by which a POST is known stays one.
func (s RuleSet) Identity(u URL) URL {
	digest := u.Post()
	if u = s.Apply(u); digest != "" {
		u = u.WithPost(digest)
	}
	return u
}
