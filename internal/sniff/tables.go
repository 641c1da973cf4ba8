package sniff

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// pageBegins are the beginnings of a page, before a space or '>', after white space, in any case.
var pageBegins = []string{
	"<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a", "<style", "<title", "<b",
	"<body", "<br", "<p", "<!--",
}

// A pattern is the beginning of a body of some type. A '?' stands for any byte.
type pattern struct{ begins, is string }

// patterns are those of sections 6 and 7.1 of the standard, but for those that may run scripts.
var patterns = []pattern{
	{"%!PS-Adobe-", "application/postscript"},
	{"\xfe\xff??", typeText}, {"\xff\xfe??", typeText}, {"\xef\xbb\xbf?", typeText},

	{"\x00\x00\x01\x00", "image/x-icon"}, {"\x00\x00\x02\x00", "image/x-icon"}, {"BM", "image/bmp"},
	{"GIF87a", "image/gif"}, {"GIF89a", "image/gif"}, {"RIFF????WEBPVP", "image/webp"},
	{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"},

	{"FORM????AIFF", "audio/aiff"}, {"ID3", "audio/mpeg"}, {"OggS\x00", "application/ogg"},
	{"MThd\x00\x00\x00\x06", "audio/midi"}, {"RIFF????AVI ", "video/avi"}, {"RIFF????WAVE", "audio/wave"},

	{"\x1f\x8b\x08", "application/x-gzip"}, {"PK\x03\x04", "application/zip"}, {"Rar \x1a\x07\x00", "application/x-rar-compressed"},
}

func (p pattern) matches(head []byte) bool {
	if len(head) < len(p.begins) {
		return false
	}
	for i := range len(p.begins) {
		if c := p.begins[i]; c != '?' && c != head[i] {
			return false
		}
	}
	return true
}

// isMP4 looks for a brand of MP4 in the first box: section 6.2.1 of the standard.
func isMP4(head []byte) bool {
	if len(head) < 12 || string(head[4:8]) != "ftyp" {
		return false
	}
	size := binary.BigEndian.Uint32(head)
	if size%4 != 0 || uint64(size) > uint64(len(head)) {
		return false
	}
	brands := slices.Concat(head[8:12], head[min(16, size):size]) // the bytes between are a version
	for brand := range slices.Chunk(brands, 4) {
		if bytes.HasPrefix(brand, []byte("mp4")) {
			return true
		}
	}
	return false
}

// isWebM looks for the document type of WebM in the header of EBML: section 6.2.2 of the standard.
func isWebM(head []byte) bool {
	if !bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")) {
		return false
	}
	at := bytes.Index(head[:min(len(head), 38)], []byte("\x42\x82"))
	return at >= 0 && bytes.HasPrefix(bytes.TrimLeft(head[min(len(head), at+3):], "\x00"), []byte("webm"))
}
