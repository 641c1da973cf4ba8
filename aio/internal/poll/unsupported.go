//go:build !unix

package poll

// On systems without a selector the build of whatever imports this package ends here, with the
// text of this constant.
const _ int = "Weft runs on Linux; this system is not supported"
