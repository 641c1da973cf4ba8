// Package sniff finds the media type of a body as the MIME Sniffing Standard does
// (https://mimesniff.spec.whatwg.org/), for a server that sends none or a wrong one.
//
// A Content-Type that is missing, invalid, */*, unknown/unknown or application/unknown says
// nothing: then the first bytes decide. Text that servers label by default may be binary, and a
// page may be a feed. Beyond the standard, JSON is a JSON Feed if it says so. Any other type is
// believed, also where a browser would look into an image: no link depends on it.
//
// # Limits
//
// At most the first 1,445 bytes are read. MP3 without ID3 tags, which takes more than a look at
// the beginning, is application/octet-stream.
//
// # Concurrency
//
// The package has no state.
package sniff
