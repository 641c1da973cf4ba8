//go:build !linux

package crawltest

func inMemory() string { return "" }
