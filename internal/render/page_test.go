package render

import "testing"

// TestRedirects: a browser shows any other response, and the document that it shows makes requests.
func TestRedirects(t *testing.T) {
	to := []Field{{"location", "/to"}}
	for status := range 600 {
		want := status == 301 || status == 302 || status == 303 || status == 307 || status == 308
		if got := (&Response{Status: status, Header: to}).isRedirect(); got != want {
			t.Errorf("status %d: %t", status, got)
		}
	}
	if (&Response{Status: 301}).isRedirect() {
		t.Error("it leads nowhere")
	}
}
