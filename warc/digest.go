package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Algorithm is that of a digest.
type Algorithm string

// The algorithms that Weft writes. It also reads digests by md5 and sha512.
const (
	SHA256 Algorithm = "sha256"
	SHA1   Algorithm = "sha1"
)

// Digest is the value of a digest field.
type Digest struct {
	Algorithm Algorithm
	Sum       []byte
}

// String returns the digest as most tools write it: SHA-1 in base 32, all others in hexadecimal.
func (d Digest) String() string {
	var text [len("sha256:") + 2*sha256.Size]byte
	return string(d.append(text[:0]))
}

func (d Digest) append(b []byte) []byte {
	b = append(append(b, d.Algorithm...), ':')
	if d.Algorithm == SHA1 {
		return base32.StdEncoding.AppendEncode(b, d.Sum)
	}
	return hex.AppendEncode(b, d.Sum)
}

// Equal reports whether both have the same algorithm and sum.
func (d Digest) Equal(other Digest) bool {
	return d.Algorithm == other.Algorithm && bytes.Equal(d.Sum, other.Sum)
}

// ParseDigest reads a digest field. The sum may be in base 32, hexadecimal or base 64, as its
// length tells.
func ParseDigest(s string) (Digest, error) {
	name, value, _ := strings.Cut(s, ":")
	d := Digest{Algorithm: Algorithm(strings.ReplaceAll(strings.ToLower(name), "-", ""))}
	h := d.Algorithm.New()
	if h == nil {
		return Digest{}, fmt.Errorf("digest %.80q: algorithm unknown, expected sha256, sha1, sha512 or md5", s)
	}
	for _, decode := range decodings {
		if sum, err := decode(value); err == nil && len(sum) == h.Size() {
			d.Sum = sum
			return d, nil
		}
	}
	return Digest{}, fmt.Errorf("digest %.80q: expected %d bytes in base 32, hexadecimal or base 64", s, h.Size())
}

var decodings = []func(string) ([]byte, error){
	hex.DecodeString,
	func(s string) ([]byte, error) {
		return base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(s), "="))
	},
	func(s string) ([]byte, error) { return base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "=")) },
	func(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "=")) },
}

// New returns a hash, or nil if the algorithm is unknown.
func (a Algorithm) New() hash.Hash {
	switch a {
	case SHA256:
		return sha256.New()
	case SHA1:
		return sha1.New()
	case "sha512":
		return sha512.New()
	case "md5":
		return md5.New()
	}
	return nil
}
