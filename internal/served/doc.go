// Package served has tests of weft serve as programs use it: processes, requests, kills.
package served
