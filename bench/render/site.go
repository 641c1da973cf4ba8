//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// site is one to crawl.
type site struct {
	Name     string
	Rendered bool // its pages need their scripts
	Built    string
}

// sites returns four sites that need scripts, one that a server renders, and a static one.
func sites(built string) []site {
	var all []site
	for _, name := range []string{"react", "vue", "svelte", "solid"} {
		all = append(all, site{name, true, filepath.Join(built, name)})
	}
	return append(all, site{"astro", false, filepath.Join(built, "astro")}, site{"static", false, ""})
}

// serve serves a site on loopback, and returns its base URL.
func serve(s site, pages []content) (base string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/pages/{number}", func(w http.ResponseWriter, r *http.Request) {
		if c := pageOf(pages, r.PathValue("number")); c != nil {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(c)
			return
		}
		http.NotFound(w, r)
	})
	mux.HandleFunc("GET /pictures/{name}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(picture(r.PathValue("name")))
	})
	if s.Built == "" {
		mux.HandleFunc("GET /p/{number}", func(w http.ResponseWriter, r *http.Request) { static(w, r, pages) })
		mux.HandleFunc("GET /assets/{name}", func(w http.ResponseWriter, r *http.Request) { plain(w, r) })
	} else {
		mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { file(w, r, s.Built) })
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

func pageOf(pages []content, number string) *content {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(pages) {
		return nil
	}
	return &pages[n]
}

// file serves a file of a built site: for a path without a dot its page, or index.html, whose
// router knows the path.
func file(w http.ResponseWriter, r *http.Request, root string) {
	name := filepath.Join(root, filepath.FromSlash(path.Clean(r.URL.Path)))
	if strings.Contains(path.Base(name), ".") {
		if strings.Contains(r.URL.Path, "/assets/") || strings.Contains(r.URL.Path, "/_astro/") {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			http.NotFound(w, r) // /favicon.ico, /robots.txt
			return
		}
		http.ServeFile(w, r, name)
		return
	}
	body, err := os.ReadFile(name + ".html")
	if err != nil {
		body, err = os.ReadFile(filepath.Join(root, "index.html"))
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(body)
}

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{.Title}}</title>
<link rel="stylesheet" href="/assets/style.css">
<script src="/assets/counter.js" async></script>
</head>
<body>
<main>
<h1>{{.Title}}</h1>
{{range .Paragraphs}}<p>{{.}}</p>
{{end}}<div class="pictures">{{range .Pictures}}<img src="{{.}}" alt="">{{end}}</div>
<nav><ul>{{range .Links}}<li><a href="{{.Path}}">{{.Title}}</a></li>{{end}}</ul></nav>
</main>
</body>
</html>
`))

// static serves a page of the static site.
func static(w http.ResponseWriter, r *http.Request, pages []content) {
	c := pageOf(pages, r.PathValue("number"))
	if c == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, c)
}

// plain serves the style and the script of the static site.
func plain(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if r.PathValue("name") == "counter.js" {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(`document.documentElement.dataset.counted = "1"`))
		return
	}
	w.Header().Set("Content-Type", "text/css")
	_, _ = w.Write([]byte(`body { font: 16px/1.5 sans-serif; max-width: 60rem; margin: auto } .pictures { display: grid; grid-template-columns: repeat(4, 1fr) }`))
}

// picture is one of 320 × 200 pixels with a gradient that its name decides.
func picture(name string) []byte {
	seed := byte(0)
	for i := range len(name) {
		seed = seed*31 + name[i]
	}
	img := image.NewRGBA(image.Rect(0, 0, 320, 200))
	for y := range 200 {
		for x := range 320 {
			img.SetRGBA(x, y, color.RGBA{byte(x) + seed, byte(y), seed, 255})
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return b.Bytes()
}
