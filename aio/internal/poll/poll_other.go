//go:build unix && !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package poll

var selectors = []selectorKind{{"poll", newPoll}}
