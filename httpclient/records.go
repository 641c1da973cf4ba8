package httpclient

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Sizes of a record (RFC 8446, sections 5.1 and 5.2).
const (
	recordHead = 5
	maxRecord  = 16 << 10                     // most bytes of its payload
	maxSealed  = recordHead + maxRecord + 256 // all of it, encrypted, at most
)

// Kinds of what a record carries.
const (
	alertRecord       = 21
	handshakeRecord   = 22
	applicationRecord = 23
)

// maxKeyRecords bounds the records that one key carries, far below the limit of AES-GCM
// (RFC 8446, section 5.5): a connection with more is not used again.
const maxKeyRecords = 1 << 22

// suite is the part of a cipher suite of TLS 1.3 that is about records.
type suite struct {
	hash func() hash.Hash
	size int // of a secret
	key  int // bytes
}

// suites are the cipher suites whose records are handled here: both are AES-GCM.
var suites = map[uint16]*suite{
	tls.TLS_AES_128_GCM_SHA256: {sha256.New, sha256.Size, 16},
	tls.TLS_AES_256_GCM_SHA384: {sha512.New384, sha512.Size384, 32},
}

// half is one direction of a connection: records under the keys that follow from a secret.
type half struct {
	suite  *suite
	secret []byte
	key    []byte
	iv     [12]byte
	n      uint64      // of the next record
	warm   *warmth     // of the client
	aead   cipher.AEAD // of key, or nil
}

// newHalf returns the direction that a secret protects.
func newHalf(s *suite, secret []byte, warm *warmth) (half, error) {
	h := half{suite: s, secret: secret, warm: warm}
	var err error
	if h.key, err = h.expand("key", s.key); err != nil {
		return h, err
	}
	iv, err := h.expand("iv", len(h.iv))
	copy(h.iv[:], iv)
	return h, err
}

// cipher returns the cipher of the key.
func (h *half) cipher() cipher.AEAD {
	if h.aead != nil {
		return h.aead
	}
	block, err := aes.NewCipher(h.key)
	if err != nil {
		panic(err) // a key of the wrong size
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	h.warm.add(h)
	h.aead = aead
	return aead
}

// warmth are the directions of a client that were used last, and have their ciphers: a cipher takes
// 750 bytes, and little time to make, so connections that wait have none.
type warmth struct {
	used [256]*half
	next int
}

func (w *warmth) add(h *half) {
	if old := w.used[w.next]; old != nil {
		old.aead = nil
	}
	w.used[w.next] = h
	w.next = (w.next + 1) % len(w.used)
}

// drop makes w forget the directions of a connection that is closed.
func (w *warmth) drop(halves ...*half) {
	for i, h := range w.used {
		if slices.Contains(halves, h) {
			w.used[i] = nil
		}
	}
}

// expand derives from the secret (RFC 8446, section 7.1).
func (h *half) expand(label string, size int) ([]byte, error) {
	label = "tls13 " + label
	info := append(make([]byte, 0, 32), byte(size>>8), byte(size), byte(len(label)))
	return hkdf.Expand(h.suite.hash, h.secret, string(append(append(info, label...), 0)), size)
}

// update changes to the next keys (section 7.2).
func (h *half) update() error {
	secret, err := h.expand("traffic upd", h.suite.size)
	if err != nil {
		return err
	}
	next, err := newHalf(h.suite, secret, h.warm)
	h.secret, h.key, h.iv, h.n, h.aead = next.secret, next.key, next.iv, 0, nil
	return err
}

// nonce returns that of the next record (section 5.3).
func (h *half) nonce() []byte {
	b := h.iv // a copy
	binary.BigEndian.PutUint64(b[4:], binary.BigEndian.Uint64(b[4:])^h.n)
	h.n++
	return b[:]
}

// seal appends content to b, in records of a kind.
func (h *half) seal(b []byte, kind byte, content []byte) []byte {
	aead := h.cipher()
	for more := true; more; more = len(content) > 0 {
		part := content[:min(len(content), maxRecord)]
		content = content[len(part):]
		head := len(b)
		b = append(b, applicationRecord, 3, 3)
		b = binary.BigEndian.AppendUint16(b, uint16(len(part)+1+aead.Overhead()))
		inner := len(b)
		b = append(append(b, part...), kind)
		b = aead.Seal(b[:inner], h.nonce(), b[inner:], b[head:inner])
	}
	return b
}

// open decrypts a record in its place, and returns its kind and what it carries.
func (h *half) open(record []byte) (kind byte, content []byte, err error) {
	if record[0] != applicationRecord { // nothing else comes after the handshake
		return 0, nil, ourAlert(alertUnexpected)
	}
	head, sealed := record[:recordHead], record[recordHead:]
	content, err = h.cipher().Open(sealed[:0], h.nonce(), sealed, head)
	if err != nil {
		return 0, nil, ourAlert(alertBadMAC)
	}
	for n := len(content); n > 0; n-- { // after the kind there may be zeros (section 5.4)
		if kind = content[n-1]; kind != 0 {
			if n-1 > maxRecord {
				return 0, nil, ourAlert(alertOverflow)
			}
			return kind, content[:n-1], nil
		}
	}
	return 0, nil, ourAlert(alertUnexpected)
}

// recordSize returns the size of the record that b begins with; 0 if b is too short to say. What
// cannot be a record has the size of b: crypto/tls says what is wrong with it.
func recordSize(b []byte) int {
	switch {
	case len(b) < recordHead:
		return 0
	case b[0] < 20 || b[0] > applicationRecord || b[1] != 3 || binary.BigEndian.Uint16(b[3:]) > maxRecord+2048:
		return len(b)
	}
	return recordHead + int(binary.BigEndian.Uint16(b[3:]))
}

// Alerts that concern records (section 6.2).
const (
	alertCloseNotify  tls.AlertError = 0
	alertUnexpected   tls.AlertError = 10
	alertBadMAC       tls.AlertError = 20
	alertOverflow     tls.AlertError = 22
	alertDecode       tls.AlertError = 50
	alertUserCanceled tls.AlertError = 90
)

// inWords puts an error of TLS in words that say who refuses. The kind says that it is about TLS.
func inWords(failed *Error) *Error {
	if failed.Kind != KindTLS {
		return failed
	}
	var other tls.RecordHeaderError
	if errors.As(failed.Err, &other) && other.Conn != nil { // in the first record
		text := fmt.Sprintf("the server does not speak TLS on this port: its first bytes are %q", other.RecordHeader)
		if string(other.RecordHeader[:]) == version[:len(other.RecordHeader)] {
			text = "the server speaks plain HTTP on this port, expected TLS"
		}
		failed.Err = &reworded{text, failed.Err}
		return failed
	}
	text := failed.Err.Error()
	if digits, found := strings.CutPrefix(text, "tls: server selected unsupported protocol version "); found {
		if old, err := strconv.ParseUint(digits, 16, 16); err == nil {
			failed.Err = &reworded{"the server speaks " + tls.VersionName(uint16(old)) + ", expected TLS 1.2 or 1.3", failed.Err}
			return failed
		}
	}
	for from, to := range map[string]string{
		"tls: ": "", "remote error: tls: ": "the server sends an alert: ", "local error: tls: ": "the server breaks the rules: ",
	} {
		if rest, found := strings.CutPrefix(text, from); found {
			failed.Err = &reworded{to + rest, failed.Err}
			break
		}
	}
	return failed
}

// ourAlert returns the error of a peer that breaks the rules, in the words of crypto/tls.
func ourAlert(a tls.AlertError) error { return &net.OpError{Op: "local error", Err: a} }

// theirAlert returns the error of an alert that has come.
func theirAlert(a tls.AlertError) error { return &net.OpError{Op: "remote error", Err: a} }
