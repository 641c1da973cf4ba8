package robots

import (
	"bytes"
	"strings"
)

// A field is the name and value of a line.
type field int

const (
	unknownField field = iota
	agentField
	allowField
	disallowField
	delayField
	sitemapField
)

// fieldNames are the beginnings of what lines are called, with the mistakes that google/robotstxt
// reads: it takes any name that begins with one of these.
var fieldNames = []struct {
	name string
	field
}{
	{"user-agent", agentField}, {"useragent", agentField}, {"user agent", agentField},
	{"allow", allowField},
	{"disallow", disallowField}, {"dissallow", disallowField}, {"dissalow", disallowField}, {"disalow", disallowField},
	{"diasllow", disallowField}, {"disallaw", disallowField},
	{"sitemap", sitemapField}, {"site-map", sitemapField},
}

// parts splits a line without comment, "field: value". As for google/robotstxt, a space may stand
// for a forgotten colon, if the line has two words: "Disallow /a".
func parts(line []byte) (of field, value []byte) {
	line = bytes.TrimSpace(line)
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		at := bytes.IndexAny(line, " \t")
		if at < 0 {
			return unknownField, nil
		}
		name, value = line[:at], bytes.TrimLeft(line[at:], " \t")
		if bytes.ContainsAny(value, " \t") {
			return unknownField, nil
		}
	}
	return fieldOf(name), bytes.TrimSpace(value)
}

// fieldOf returns what lines of a name say.
func fieldOf(name []byte) field {
	const longest = 20 // more than any of the names
	word := strings.ToLower(string(name[:min(len(name), longest)]))
	for _, f := range fieldNames {
		if strings.HasPrefix(word, f.name) {
			return f.field
		}
	}
	if strings.TrimSpace(word) == "crawl-delay" {
		return delayField
	}
	return unknownField
}
