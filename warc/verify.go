package warc

import (
	"cmp"
	"fmt"
	"hash"
	"io"
	"strings"
)

// Verdict is the result of comparing a record's digest with the bytes that it is of.
type Verdict string

// The verdicts. Many writers digest a body with its chunked coding, which the standard's payload is
// without: readers accept both.
const (
	Absent     Verdict = "absent" // there is no digest, or nothing here that it is of
	Match      Verdict = "match"
	MatchCoded Verdict = "match-coded" // of a payload: it is the digest of the body with its coding
	Mismatch   Verdict = "mismatch"
)

// Verify reads the block of a record and compares it with the record's digests. The error says what
// does not match, or that the block cannot be read.
func Verify(r *Record) (block, payload Verdict, err error) {
	whole, blockErr := newProof(r.Header.Get("WARC-Block-Digest"))
	plain, payloadErr := newProof(r.Header.Get("WARC-Payload-Digest"))
	coded, _ := newProof(r.Header.Get("WARC-Payload-Digest"))
	in := io.TeeReader(r, &whole)
	if r.hasPayload() {
		payloadErr = both(payloadErr, r.readPayload(in, &plain, &coded))
	} else {
		plain.hash, coded.hash = nil, nil
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return Absent, Absent, err
	}
	block, payload = whole.verdict(), plain.verdict()
	switch {
	case payload == Match:
	case coded.verdict() == Match:
		payload, payloadErr = MatchCoded, nil
	case payload == Mismatch:
		payloadErr = both(payloadErr, fmt.Errorf("the payload does not match its digest %s", plain.want))
	}
	if block == Mismatch {
		blockErr = fmt.Errorf("the block does not match its digest %s", whole.want)
	}
	return block, payload, both(blockErr, payloadErr)
}

// both joins two errors in one line.
func both(a, b error) error {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}

// hasPayload reports whether the payload digest of r is of its own block. That of a revisit is of a
// payload elsewhere.
func (r *Record) hasPayload() bool {
	switch r.Type() {
	case Response, Request, Resource, Conversion:
		return r.Header.Get("WARC-Payload-Digest") != ""
	}
	return false
}

// readPayload hands on the payload, and what it is coded as.
func (r *Record) readPayload(in io.Reader, plain, coded io.Writer) error {
	if !strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "application/http") {
		_, err := io.Copy(plain, in)
		return err
	}
	m, err := ReadMessage(in)
	if err != nil {
		return err
	}
	m.Rest = io.TeeReader(m.Rest, coded)
	_, err = io.Copy(plain, m.Payload())
	_, rest := io.Copy(io.Discard, m.Rest)
	return both(err, rest)
}

// proof compares what is written to it with a digest.
type proof struct {
	want Digest
	hash hash.Hash // nil: there is nothing to compare
}

func newProof(field string) (proof, error) {
	if field == "" {
		return proof{}, nil
	}
	want, err := ParseDigest(field)
	if err != nil {
		return proof{}, err
	}
	return proof{want, want.Algorithm.New()}, nil
}

func (p *proof) Write(b []byte) (int, error) {
	if p.hash != nil {
		p.hash.Write(b)
	}
	return len(b), nil
}

func (p *proof) verdict() Verdict {
	switch {
	case p.hash == nil:
		return Absent
	case p.want.Equal(Digest{p.want.Algorithm, p.hash.Sum(nil)}):
		return Match
	}
	return Mismatch
}
