package mirror

import (
	"cmp"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/filename"
)

// page is a URL with a body.
type page struct {
	url, wish string // the name that it would have alone
	digest    string // of its body
}

// names gives a file to each page. The order in which pages were fetched does not count.
type names struct {
	list    *list
	root    *os.Root
	files   map[string]*page // those that have a file, by its name as filename.Fold has it
	folders map[string]bool  // by the same
}

// assign gives names to pages, and adds them to the list. What the list has stays; the others take
// turns, and who comes late gets a name beside the one that it wishes for. A folder comes before a
// file of its name.
func (n *names) assign(pages map[string]*page) {
	n.files, n.folders = make(map[string]*page), make(map[string]bool)
	for _, name := range n.list.urls {
		n.claim(name, &page{})
	}
	var others []*page
	for _, p := range slices.SortedFunc(maps.Values(pages), compare) {
		name, known := n.list.urls[p.url]
		if first := n.files[filename.Fold(name)]; known && first.url != "" && !first.shares(p) {
			n.list.drop(p.url) // these were the same
			known = false
		}
		if known {
			n.claim(name, p)
		} else {
			others = append(others, p)
			n.enter(p.wish)
		}
	}
	for _, p := range others {
		name := n.inFolder(p.wish)
		for first := n.files[filename.Fold(name)]; first == nil || !first.shares(p); first = n.files[filename.Fold(name)] {
			if first == nil && !n.folders[filename.Fold(name)] && !n.exists(name) {
				break
			}
			name = filename.Beside(name, p.url)
		}
		n.claim(name, p)
		n.list.add(file{URL: p.url, File: name})
	}
}

// compare orders pages that wish for the same name: the start of a folder, those that are named so,
// and others.
func compare(a, b *page) int {
	rank := func(p *page) int {
		switch {
		case strings.HasSuffix(p.url, "/"):
			return 0
		case strings.HasSuffix(p.url, path.Base(p.wish)):
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.url, b.url))
}

// shares reports whether two pages are one file: the same body at the same place.
func (p *page) shares(other *page) bool {
	return p.wish == other.wish && p.digest != "" && p.digest == other.digest && path.Dir(p.url+"x") == path.Dir(other.url+"x")
}

func (n *names) claim(name string, p *page) {
	n.files[filename.Fold(name)] = p
	n.enter(name)
}

// enter notes the folders of a name.
func (n *names) enter(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		n.folders[filename.Fold(dir)] = true
	}
}

// inFolder returns a name whose folders are not files.
func (n *names) inFolder(name string) string {
	dir, base := path.Split(name)
	made := ""
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		for made = path.Join(made, part); n.files[filename.Fold(made)] != nil || n.blocked(made); {
			made = filename.Beside(made, made)
		}
	}
	return path.Join(made, base)
}

// exists reports whether something has a name that is not of the mirror.
func (n *names) exists(name string) bool {
	_, err := n.root.Lstat(name)
	return err == nil
}

// blocked reports whether something that is no folder has a name.
func (n *names) blocked(name string) bool {
	info, err := n.root.Lstat(name)
	return err == nil && !info.IsDir()
}
