package text

// Whole is the fingerprint of all of a page, furniture and what says when included.
func Whole(body []byte) Fingerprint {
	r := Reader{state: state{body: body, classes: &markup}}
	r.read(true, true)
	return r.fingerprint()
}
