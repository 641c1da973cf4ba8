package http2test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// tableSize returns the size of a table of HPACK by what a block begins with, which had another
// before (RFC 7541, section 6.3).
func tableSize(block []byte, was uint32) uint32 {
	const prefix = 1<<5 - 1
	for len(block) > 0 && block[0]&^prefix == 0x20 {
		size, shift := uint64(block[0]&prefix), 0
		more := size == prefix
		for block = block[1:]; more && len(block) > 0 && shift < 32; block, shift = block[1:], shift+7 {
			size += uint64(block[0]&0x7f) << shift
			more = block[0]&0x80 != 0
		}
		was = uint32(size)
	}
	return was
}

// request checks the fields of a request, or its trailer, and returns the length of its body by
// them; -1: not known (RFC 9113, sections 8.2 and 8.3).
func request(fields []hpack.HeaderField, trailer bool) (length int64, wrong string) {
	pseudo := make(map[string]string)
	regular := false // a field that is not of the protocol has come
	length = -1
	host := ""
	for _, f := range fields {
		if name, is := strings.CutPrefix(f.Name, ":"); is {
			_, twice := pseudo[name]
			switch {
			case trailer:
				return 0, "a trailer with " + f.Name
			case regular:
				return 0, f.Name + " behind other fields"
			case twice:
				return 0, f.Name + " twice"
			case !slices.Contains([]string{"method", "scheme", "authority", "path"}, name):
				return 0, f.Name + ", which is no field of a request"
			}
			pseudo[name] = f.Value
			continue
		}
		regular = true
		if wrong := field(f); wrong != "" {
			return 0, wrong
		}
		switch f.Name {
		case "content-length":
			n, err := strconv.ParseInt(f.Value, 10, 64)
			if err != nil || n < 0 {
				return 0, fmt.Sprintf("content-length %q", f.Value)
			}
			length = n
		case "host":
			host = f.Value
		}
	}
	if trailer {
		return length, ""
	}
	_, schemed := pseudo["scheme"]
	path, pathed := pseudo["path"]
	switch method := pseudo["method"]; {
	case method == "":
		return 0, "no :method"
	case method == "CONNECT":
		if schemed || pathed || pseudo["authority"] == "" {
			return 0, "CONNECT with more than an authority, or none"
		}
	case pseudo["scheme"] == "":
		return 0, "no :scheme"
	case !strings.HasPrefix(path, "/") && !(path == "*" && method == "OPTIONS"):
		return 0, fmt.Sprintf(":path %q", path)
	case host != "" && pseudo["authority"] != "" && host != pseudo["authority"]:
		return 0, fmt.Sprintf("host %q and :authority %q", host, pseudo["authority"])
	case strings.Contains(pseudo["authority"], "@"):
		return 0, fmt.Sprintf(":authority %q with a user", pseudo["authority"])
	}
	for name, value := range pseudo {
		if strings.ContainsAny(value, "\x00\r\n ") {
			return 0, fmt.Sprintf(":%s %q", name, value)
		}
	}
	return length, ""
}

// field checks a field.
func field(f hpack.HeaderField) (wrong string) {
	const token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
	switch {
	case f.Name == "" || strings.Trim(f.Name, token) != "":
		return fmt.Sprintf("field %q, expected a token in lower case", f.Name)
	case strings.ContainsAny(f.Value, "\x00\r\n") || f.Value != strings.Trim(f.Value, " \t"):
		return fmt.Sprintf("field %s of %q", f.Name, f.Value)
	case slices.Contains([]string{"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"}, f.Name):
		return "field " + f.Name + ", which belongs to HTTP/1"
	case f.Name == "te" && f.Value != "trailers":
		return fmt.Sprintf("field te of %q", f.Value)
	}
	return ""
}
