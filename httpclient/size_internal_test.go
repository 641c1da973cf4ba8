package httpclient

import (
	"testing"
	"unsafe"
)

// TestSizes: thousands of requests wait. What each has then takes memory by its size class.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		what        string
		size, class uintptr
	}{
		{"call", unsafe.Sizeof(call{}), 160},
		{"conn", unsafe.Sizeof(conn{}), 288},
		{"stream", unsafe.Sizeof(stream{}), 192},
	} {
		if tt.size > tt.class {
			t.Errorf("%s has %d bytes, expected at most %d", tt.what, tt.size, tt.class)
		}
	}
}
