// Package deflate compresses to DEFLATE (RFC 1951) from memory to memory, fast rather than small.
//
// # Vocabulary
//
//   - literal: a byte that a code stands for. match: a copy of earlier text.
//   - codes: the two Huffman codes of a block. head: the part of a block that says what they are.
//   - table: codes that were trained on texts of a kind.
//
// # Lifecycle
//
// The zero [Encoder] is ready. [Encoder.Append] compresses one stream, and an Encoder may be used
// for any number of them. It is 16 KB, and keeps a copy of the last text if that was in parts and
// not long; it keeps no reference to its arguments.
//
// A compressor computes codes for each block, which takes most of the time of a page of some
// kilobytes. This one has five tables, for HTML and other kinds of text, and samples of a block
// decide which is used. So a text is read once, and each literal or match is written as soon as it
// is found. A block that does not become shorter is stored; the first 16 KB of it decide.
//
// # Limits
//
// On HTML, the streams are some 5 % longer than those of compressors at their fastest level. A
// match has four bytes or more, and the last position with a hash is the only one that is tried.
//
// # Concurrency
//
// The package does no I/O and starts nothing. One task at a time uses an Encoder.
package deflate
