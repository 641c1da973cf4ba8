// Package inflate decompresses DEFLATE (RFC 1951) and gzip (RFC 1952) from memory to memory.
// docs/adr/0010 says why it is not a library.
//
// # Vocabulary
//
//   - stream: the output of DEFLATE for one text. block: a part of a stream with codes of its own.
//   - literal: a byte that a code stands for. match: a copy of earlier output.
//   - member: a header, a stream and a checksum. A gzip file has one or more.
//
// # Lifecycle
//
// The zero [Decoder] is ready. [Decoder.Append] decompresses one stream, [Decoder.Gunzip] all
// members of a gzip file. A Decoder is some 50 KB of tables and may be used for any number of
// streams; it keeps no reference to its arguments.
//
// The whole input and the whole output are in memory, so there is no window to keep and no copy
// out of it: the output is its own history. Bits are read eight bytes at a time, and matches are
// copied eight bytes at a time, as long as neither end is near; near an end every step is checked.
//
// # Limits
//
// The caller bounds the output. Accepted streams are those of compress/flate. Nothing panics,
// whatever the bytes.
//
// # Concurrency
//
// The package does no I/O and starts nothing. One task at a time uses a Decoder.
package inflate
