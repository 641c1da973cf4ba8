package weburl

// Fingerprint returns 128 bits of the canonical form: the first half of the SHA-256 of
// Identity().String(), in which a POST differs from a GET.
//
// It is part of the on-disk format: stores written by one version are read by another, so neither
// the hash nor the canonical form may change without a new format version. The hash is
// cryptographic because the Web chooses the keys: with a weaker one a site could make pages that
// hide each other.
func (b URL) Fingerprint() [16]byte {
	if b.Post() != "" {
		return fingerprint(b.Identity().href)
	}
	b.canonicalise()
	return fingerprint(b.href)
}
