//go:build !unix

package render

import "os/exec"

// Weft does not run where these would be needed.
func ownGroup(*exec.Cmd) {}

func kill(int) {}
