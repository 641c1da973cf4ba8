package render_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestDownloads: what a page would have a person download is a link, and no file.
func TestDownloads(t *testing.T) {
	const name = "weft-test-download"
	inEach(t, 1, browsers, func(t *testing.T, r *render.Renderer) {
		for script, link := range map[string]string{
			"a.href = '/file.bin'; a.click()":                                                u + "file.bin",
			"a.href = URL.createObjectURL(new Blob(['x'.repeat(1000)])); a.click()":          "blob:" + u,
			"location = '/attached'":                                                         u + "attached",
			"open('/attached')":                                                              u + "attached",
			"document.body.innerHTML = '<iframe src=/attached></iframe>'":                    u + "attached",
			"a.removeAttribute('download'); a.href = 'data:application/x-y,text'; a.click()": "data:application/x-y,text",
		} {
			p := page(u, "<p id=p>text<a id=a download="+name+">x</a><script>"+script+"</script>", nil)
			p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
				return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", "application/octet-stream"}, {"Content-Disposition", "attachment; filename=" + name}}, Body: make([]byte, 1000)}, nil
			}
			d, err := r.Render(t.Context(), p)
			if err != nil || d.Cut != "" {
				t.Errorf("%s: %+v, %v", script, d, err)
				continue
			}
			if !slices.ContainsFunc(d.Targets, func(target string) bool { return strings.HasPrefix(target, link) }) {
				t.Errorf("%s: targets %q, expected %s", script, d.Targets, link)
			}
		}
		home, _ := os.UserHomeDir()
		for _, folder := range []string{r.Profile(), os.TempDir(), ".", home, filepath.Join(home, "Downloads"), "/nonexistent"} {
			_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
				switch {
				case err != nil || e.IsDir() && path != folder && folder != r.Profile():
					return fs.SkipDir
				case strings.Contains(e.Name(), name), strings.HasSuffix(e.Name(), ".crdownload"):
					t.Errorf("a file: %s", path)
				}
				return nil
			})
		}
	})
}

// TestPermissions: what a page asks a person for is denied at once; but for a camera, which is not
// there, and about which nothing is said.
func TestPermissions(t *testing.T) {
	inEach(t, 0, browsers, func(t *testing.T, r *render.Renderer) {
		p := page("https://permissions.test/", `<p id=p><script>
const asks = {
	geolocation: () => new Promise((f, r) => navigator.geolocation.getCurrentPosition(f, r)),
	notifications: () => Notification.requestPermission(),
	clipboard: () => navigator.clipboard.readText(),
	camera: () => navigator.mediaDevices.getUserMedia({video: true}),
	midi: () => navigator.requestMIDIAccess({sysex: true}),
	storage: () => navigator.storage.persist(),
}
let left = Object.keys(asks).length - 1 // without the camera
const says = text => { p.append(text + ' '); if (--left == 0) p.id = 'said' }
for (const [name, ask] of Object.entries(asks)) {
	try { ask().then(v => says(name + '=' + v), e => says(name + '=denied(' + e.message + ')')) } catch (e) { says(name + '=' + e) }
}</script>`, nil)
		p.Steps.Wait, _ = render.ParseWait("#said")
		d, err := r.Render(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(d.HTML, "</script>")
		for _, want := range []string{"geolocation=denied", "notifications=de", "clipboard=denied", "midi=denied", "storage=false"} {
			if !strings.Contains(" "+text, " "+want) {
				t.Errorf("no %s: %s", want, text)
			}
		}
		if strings.Contains(text, "camera=[object") || d.Cut != "" {
			t.Errorf("cut %q, %s", d.Cut, text)
		}
	})
}
