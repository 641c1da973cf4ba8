// Package warc writes and reads web archives: WARC 1.1 (ISO 28500:2017), and to read, WARC 1.0 and
// ARC. It works on bytes, readers and writers; it opens no files and speaks no HTTP.
//
// # Vocabulary
//
//   - record: named fields and a block of bytes. Its type says what the block is.
//   - capture: an exchange over HTTP as records: a response record, and the request record that led
//     to it.
//   - block: the bytes behind the fields. That of a response is status line, fields and body as
//     they came over the wire.
//   - payload: of a response, the body without its transfer coding, and with its content coding.
//   - revisit: a record in place of a response whose payload is in the archive already.
//   - member: one gzip stream of a file. Weft writes a member for each record, so that a record can
//     be read from its offset alone.
//
// # Writing
//
// [Encoder] appends records to a slice of bytes, each as one member. A body that arrived compressed
// and a request are stored as they are: compressing them costs much time and saves little.
//
//	e := warc.NewEncoder(warc.Options{})
//	file, _ = e.Exchange(file, &warc.Exchange{URL: url, Date: at, Request: sent, Response: received})
//
// # Reading
//
// [Reader] reads the records of a stream one after the other, in bounded memory. Damage is a
// [DamageError] with its offset; reading goes on at the next record that can be found.
//
//	for r := warc.NewReader(file); ; {
//		record, err := r.Next()
//		if err == io.EOF {
//			break
//		}
//		…
//	}
//
// [ReadMessage] reads the block of a response or request as HTTP. [Message.Body] is the one door to
// bodies: it decides which codings they have, and how far they may grow.
package warc
