// Package archtest holds the rules of the project as tests: which package may import which, what
// pure packages may not do, where goroutines may meet, and how large functions and structs may be.
package archtest
