package read

import "testing"

// TestFormulaBesideItsPicture: Wikipedia has a formula as MathML and as an image; it is written
// once.
func TestFormulaBesideItsPicture(t *testing.T) {
	body := `<p>So <span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none"><math><semantics><mi>w</mi>` +
		`<annotation encoding="application/x-tex">{\displaystyle w=1}</annotation></semantics></math></span>` +
		`<img class="mwe-math-fallback-image-inline" src="w.svg" alt="{\displaystyle w=1}"></span> holds.`
	p := One(Source{URL: mustURL(t, "https://example.org/"), ContentType: "text/html", Body: []byte(body)}, Options{Whole: true})
	if want := "So $w=1$ holds.\n"; p.Markdown != want {
		t.Errorf("%q, expected %q", p.Markdown, want)
	}
}
