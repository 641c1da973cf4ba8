// Package charset finds the encoding of pages and transcodes them to UTF-8.
// docs/adr/0017-charset-detection.md says why it is not a library.
//
// # Vocabulary
//
//   - encoding, label, name: as in the Encoding Standard (https://encoding.spec.whatwg.org/);
//     names are in lower case.
//   - source: the evidence that decided the encoding ([Source]).
//   - prescan: the search for a declaration in the first 1,024 bytes.
//
// # Lifecycle
//
// [Determine] follows the HTML Standard's encoding sniffing algorithm
// (https://html.spec.whatwg.org/multipage/parsing.html#encoding-sniffing-algorithm): byte order
// mark, Content-Type, prescan, XML declaration. A later <meta> counts too, as in a browser. A body
// that declares nothing is ASCII, or UTF-8 if it can be; otherwise its bytes are compared with
// models of languages (detect.go), and if none fits it is windows-1252. Pure ASCII is windows-1252
// as well, as in browsers: the encoding decides how the queries of links are written.
// [Encoding.Decode] then decodes the body.
//
// # Concurrency
//
// All functions are pure. Tables are built on first use and shared.
//
// # Limits
//
// Everything takes time linear in the body. Text is at most three times as long as its bytes;
// UTF-8, and ASCII in encodings that contain it, is not copied. Tables of pairs take 128 KiB for
// each of the five encodings that have them.
//
// No difference from the Encoding Standard is known in the decoders. The single-byte and
// multi-byte decoders were compared with another implementation of the standard (@exodus/bytes
// 1.16.0 for JavaScript) on all sequences of one and two bytes, the forms of three and four bytes,
// and random bytes. The encoders that queries of links need are in package weburl.
package charset
