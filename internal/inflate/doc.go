// Package inflate undoes DEFLATE (RFC 1951), and gzip (RFC 1952), from one piece of memory
// to another.
//
// An answer that is decoded is there as a whole, and so is what it becomes. So there is
// no window to keep, and no copy out of it: what was decoded is its own history. Bits are
// taken from the input 8 bytes at a time, and matches are copied 8 bytes at a time,
// as long as neither end is near; near an end everything is checked one by one.
//
// What is accepted is what compress/flate accepts. A Decoder is some 50 KB of tables,
// used again for any number of streams, by one goroutine at a time. It starts nothing and keeps no
// reference to what it was given.
package inflate
