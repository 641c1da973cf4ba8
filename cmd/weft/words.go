package main

import "github.com/dustin/go-humanize/english"

// plural is "1 URL" or "1,234 URLs".
func plural(n int, noun string) string { return english.Plural(n, noun, "") }
