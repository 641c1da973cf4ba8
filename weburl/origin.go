package weburl

// Origin returns the serialised origin, such as "https://example.org:8080", or "null" for schemes
// that have none. See https://url.spec.whatwg.org/#origin.
func (b URL) Origin() string {
	switch scheme := b.Scheme(); scheme {
	case "http", "https", "ws", "wss", "ftp":
		return scheme + "://" + b.Host()
	case "blob":
		if inner, err := Parse(b.Path()); err == nil && inner.IsHTTP() {
			return inner.Origin()
		}
	}
	return "null"
}
