package aio

import (
	"testing"
	"unsafe"
)

// TestSizes: thousands of tasks and sockets wait. Each takes memory by its size class, of which
// these are some; a field more than fills one costs 16 to 32 bytes of each.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		what        string
		size, class uintptr
	}{
		{"Task", unsafe.Sizeof(Task{}), 352},
		{"socket", unsafe.Sizeof(socket{}), 160},
		{"Reader", unsafe.Sizeof(Reader{}), 80},
	} {
		if tt.size > tt.class {
			t.Errorf("%s has %d bytes, expected at most %d", tt.what, tt.size, tt.class)
		}
	}
}
