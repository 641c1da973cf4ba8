package render_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// dot returns a picture of one colour.
func dot(t *testing.T, c color.RGBA) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 10, 10))
	for i := range 100 {
		m.SetRGBA(i%10, i/10, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// seenPage is a page of a red band, 300 pixels high, a picture below it, and one that is lazy at
// 5,000 pixels.
const seenPage = `<!doctype html><style>body { margin: 0 } #band { height: 300px; background: rgb(200, 10, 20) } img { display: block; width: 100px; height: 100px }</style>
<div id=band></div><img src=/blue.png><div style="height: 4600px"></div><img loading=lazy src=/green.png><img data-src=/green.png id=observed><div style="height: 800px"></div><script>
new IntersectionObserver(all => { for (const e of all) if (e.isIntersecting) e.target.src = e.target.dataset.src }).observe(document.getElementById('observed'))</script>`

// TestPictures: a screenshot has the size and the colours of the page, that of a whole page its
// lazy images, too; a PDF is one. The document is as without them.
func TestPictures(t *testing.T) {
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		p := page("http://a.test/", seenPage, nil)
		p.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
			c := color.RGBA{20, 30, 220, 255}
			if strings.HasSuffix(q.URL, "green.png") {
				c = color.RGBA{10, 160, 30, 255}
			}
			return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", "image/png"}}, Body: dot(t, c)}, nil
		}
		p.Screenshot, p.PDF = render.ScreenshotFull, true
		d, err := r.Render(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		keep(t, d)
		m := decode(t, d.Screenshot)
		if size := m.Bounds().Size(); size.X != 1280 || size.Y != 6000 {
			t.Errorf("size %v", size)
		}
		for at, want := range map[image.Point]string{{640, 150}: "200 10 20", {50, 350}: "20 30 220", {640, 350}: "255 255 255", {50, 5050}: "10 160 30", {50, 5150}: "10 160 30"} {
			if got := colour(m, at); got != want {
				t.Errorf("at %v: %s, expected %s", at, got, want)
			}
		}
		if !bytes.HasPrefix(d.PDF, []byte("%PDF-")) || d.Missing != "" || !strings.Contains(d.HTML, "loading=\"lazy\"") {
			t.Errorf("%.20q, missing %q, %s", d.PDF, d.Missing, d.HTML)
		}
		p.Screenshot, p.PDF, p.Steps.Scroll = render.ScreenshotViewport, false, 100
		if d, err = r.Render(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		m = decode(t, d.Screenshot)
		if size := m.Bounds().Size(); size.X != 1280 || size.Y != 800 || colour(m, image.Pt(640, 150)) != "200 10 20" || d.PDF != nil {
			t.Errorf("the first screen: %v, %s", size, colour(m, image.Pt(640, 150)))
		}
		if p.Screenshot = render.ScreenshotNone; p.IsSeen() {
			t.Error("a page without pictures is not seen")
		}
	})
}

// TestTallPage: a page of 300,000 pixels is cut off, in its pictures.
func TestTallPage(t *testing.T) {
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		p := page("http://a.test/", `<!doctype html><style>p { height: 1000px; margin: 0 }</style>`+strings.Repeat("<p>x", 300), nil)
		p.Screenshot, p.PDF = render.ScreenshotFull, true
		d, err := r.Render(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(d.Took, len(d.Screenshot), len(d.PDF))
		if size := decode(t, d.Screenshot).Bounds().Size(); size.Y != 16384 || !bytes.HasPrefix(d.PDF, []byte("%PDF-")) || d.Missing != "" {
			t.Errorf("%v, %q", size, d.Missing)
		}
	})
}

func decode(t *testing.T, text []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func colour(m image.Image, p image.Point) string {
	r, g, b, _ := m.At(p.X, p.Y).RGBA()
	return fmt.Sprint(r>>8, g>>8, b>>8)
}

// keep leaves pictures for eyes, in the folder that a variable names.
func keep(t *testing.T, d *render.Document) {
	t.Helper()
	if dir := os.Getenv("WEFT_TEST_PICTURES"); dir != "" {
		name := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-"))
		os.WriteFile(name+".png", d.Screenshot, 0o666)
		os.WriteFile(name+".pdf", d.PDF, 0o666)
	}
}
