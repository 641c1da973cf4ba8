// Package charset finds the encoding of pages and brings them into UTF-8.
//
// # Vocabulary
//
//   - encoding, label, name: as in the Encoding Standard (https://encoding.spec.whatwg.org/);
//     names are in lower case.
//   - source: what told the encoding.
//   - prescan: the search for a declaration in the first 1,024 bytes.
//
// # Lifecycle
//
// [Determine] follows the HTML Standard's encoding sniffing algorithm
// (https://html.spec.whatwg.org/multipage/parsing.html#encoding-sniffing-algorithm): byte
// order mark, Content-Type, prescan, XML declaration. A <meta> further on counts too, as
// it does in a browser. What declares nothing is ASCII, or UTF-8 if it can be; else its bytes are
// held against models of languages (detect.go), and what none fits is windows-1252. ASCII only
// is windows-1252 as well, as in browsers: it tells how the links' queries are written.
// [Encoding.Decode] then makes text of it.
//
// # Concurrency
//
// All functions are pure. Tables are made when they are first needed, and shared.
//
// # Limits
//
// Everything takes time linear in the body. Text is at most three times as long as its
// bytes; UTF-8, and ASCII in encodings that have it, is not copied. Tables of pairs take 128
// KiB for each of the five encodings that have them.
//
// Differences from the Encoding Standard: decoders have none that is known. The single-byte and
// the multi-byte decoders were held against all sequences of one and two bytes, the three and
// four byte forms, and random bytes, of another implementation of the standard
// (@exodus/bytes 1.16.0 for JavaScript). Encoders, which the queries of links need, are weburl's.
package charset
