// Package long chooses between the two forms of a slow test: a short one, which the suite runs,
// and a long one. WEFT_LONG=1 selects the long form of every test (make test-long, make torture).
package long

import "os"

// Env is the environment variable that selects the long forms: any value but "" and "0".
const Env = "WEFT_LONG"

// Enabled reports whether tests run their long forms.
func Enabled() bool {
	v := os.Getenv(Env)
	return v != "" && v != "0"
}

// Or returns the parameter of a test: short in the suite, full in a long run.
func Or[T any](short, full T) T {
	if Enabled() {
		return full
	}
	return short
}
