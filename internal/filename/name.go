package filename

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
)

const (
	mostPart  = 200 // bytes of a part of a path; file systems allow 255
	mostParts = 50
	mostPath  = 1000 // bytes
)

// Of returns a relative path for a URL: host and path, or the scheme and what follows.
func Of(url, mime string) string {
	rest, _, _ := strings.Cut(url, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	if _, after, found := strings.Cut(rest, "://"); found {
		host, path, _ := strings.Cut(strings.TrimLeft(after, "/"), "/")
		rest = hostName(host) + "/" + path
	} else {
		rest = strings.Replace(rest, ":", "/", 1)
	}
	dir, base := path.Split(rest)
	if base == "" {
		base = "index"
		if mime == "text/html" || mime == "application/xhtml+xml" {
			base = "index.html"
		}
	}
	if hasQuery {
		ext := Ext(base) // stays at the end, where programs look for it
		base = strings.TrimSuffix(base, ext) + "@" + query + ext
	}
	var parts []string
	for part := range strings.SplitSeq(dir, "/") {
		if part != "" {
			parts = append(parts, Part(part))
		}
	}
	if len(parts) == 0 {
		parts = []string{"unknown"}
	}
	name := path.Join(append(parts, Part(base))...)
	if len(parts) > mostParts || len(name) > mostPath {
		return path.Join(parts[0], Digest(url)+Ext(Part(base)))
	}
	return name
}

// hostName returns what stands for host and port, without a password. Programs such as rsync take
// HOST:PATH for another machine.
func hostName(host string) string {
	return strings.ReplaceAll(host[strings.LastIndexByte(host, '@')+1:], ":", "_")
}

// Digest tells names apart that were cut.
func Digest(s string) string { return fmt.Sprintf("~%x", sha256.Sum256([]byte(s)))[:17] }

// Part makes a part of a path that any file system allows.
func Part(part string) string {
	var b strings.Builder
	for i := range len(part) {
		c := part[i]
		// A dot at the end is lost on some file systems, and ".." leads elsewhere.
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"*/:<>?\|`, c) >= 0 || c == '.' && i == len(part)-1 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	safe := b.String()
	if len(safe) > mostPart {
		ext := Ext(safe)
		safe = safe[:mostPart-17-len(ext)] + Digest(part) + ext
	}
	return safe
}

// Ext returns the extension of a name, unless it is long.
func Ext(name string) string {
	if ext := path.Ext(name); len(ext) <= 10 {
		return ext
	}
	return ""
}
