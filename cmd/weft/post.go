package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/weftcrawl/weft"
)

// postFlags are the content of the requests of a command.
type postFlags struct {
	data        [][]byte
	parts       []weft.Part
	contentType string
}

func (f *postFlags) any() bool { return len(f.data) > 0 || len(f.parts) > 0 }

// to returns the requests, all of each URL.
func (f *postFlags) to(urls []string) (posts []weft.Post) {
	for _, u := range urls {
		for _, data := range f.data {
			posts = append(posts, weft.Post{URL: u, Type: f.contentType, Body: data})
		}
		if len(f.parts) > 0 {
			posts = append(posts, weft.PostMultipart(u, f.parts...))
		}
	}
	return posts
}

// joined returns the request that sends all to one URL; nil: nothing is sent.
func (f *postFlags) joined() *weft.Post {
	post := weft.Post{Type: f.contentType, Body: bytes.Join(f.data, []byte("&"))}
	switch {
	case !f.any():
		return nil
	case len(f.parts) > 0:
		post = weft.PostMultipart("", f.parts...)
	}
	return &post
}

// typeOption is --post-type.
func (f *postFlags) typeOption() option {
	return option{name: "post-type", arg: "TYPE", Value: to(&f.contentType, postType), advanced: true,
		help: "Content-Type of --post-data, such as application/json"}
}

// postData reads DATA, or @FILE.
func postData(s string) ([]byte, error) {
	if path, isFile := strings.CutPrefix(s, "@"); isFile {
		return postFile(path)
	}
	if s == "" {
		return nil, errors.New("expected data such as 'q=red+shoes', or @FILE")
	}
	return []byte(s), nil
}

// postFile reads a file that is sent.
func postFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w, expected a file to send", reason(err))
	case info.Size() > weft.MaxPost:
		return nil, fmt.Errorf("%.128q: %d bytes, expected at most %d", path, info.Size(), weft.MaxPost)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w, expected a file to send", reason(err))
	}
	return b, nil
}

// postPart reads NAME=VALUE or NAME=@FILE.
func postPart(s string) (weft.Part, error) {
	name, text, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return weft.Part{}, errors.New("expected NAME=VALUE or NAME=@FILE")
	}
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return weft.Part{Name: name, Content: []byte(text)}, nil
	}
	content, err := postFile(path)
	return weft.Part{Name: name, Content: content, Filename: filepath.Base(path)}, err
}
