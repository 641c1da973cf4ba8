// Package idna turns domains into ASCII as UTS #46, revision 35, and the URL Standard say, with the
// characters of Unicode 17. Processing is nontransitional: straße.de stays apart from strasse.de.
//
// golang.org/x/net/idna has these tables from Go 1.27 on; before, it knows Unicode 15, in which
// STRAẞE.de is strasse.de and letters younger than 2022 are no letters. The table here is made of
// theirs (gen). Once Weft needs Go 1.27, theirs can replace this package.
//
// # Limits
//
// Normalization is that of golang.org/x/text. Before Go 1.27 it leaves 20 sequences of letters as
// they are that Unicode 16 composes, in scripts that are in no domain.
//
// # Concurrency
//
// The package has no state.
package idna
