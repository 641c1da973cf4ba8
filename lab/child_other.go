//go:build !linux

package lab

// Child returns at once: where the ways that make their sockets themselves are missing there
// are no children.
func Child() {}
