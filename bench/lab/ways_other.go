//go:build !linux

package lab

// Ways are the ways that need no system call of Linux, in the order of the road.
var Ways = []Way{Aio, Goroutines}
