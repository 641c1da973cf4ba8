package mirror_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/browser"
)

// The variables of make bench-mirror: the command, and the page to write.
const (
	peersWeft = "WEFT_MIRROR_COMMAND"
	peersPage = "WEFT_MIRROR_PAGE"
)

// peers are the tools; each gets a list of URLs, and writes to the current folder.
var peers = []struct {
	name, command string
}{
	{"weft mirror", "$WEFT mirror -q --scope page --assets any --no-robots -i urls -o ."},
	{"wget", "wget -q -kEp -e robots=off -i urls"},
	{"wget2", "wget2 -q -kEp --no-robots -i urls"},
	{"httrack", "timeout 150 httrack -q -%L urls -O . -r1 -n -s0 --disable-security-limits -%c100 -c8 --max-rate=0"},
}

// documentation is the sites: folders of Debian packages, and where their pages are.
var documentation = []struct{ name, dir, pages string }{
	{"Python 3.11", "/usr/share/doc/python3.11/html", ""},
	{"Boost 1.81", "/usr/share/doc/libboost1.81-doc", "/doc/html"},
}

const mostPages = 20

// opened is a copy in a browser, with the site gone.
type opened struct {
	pages, other, failed, asked, dead, away int
	size                                    int64
	cpu                                     time.Duration
}

// onDisk is a page as a reader has it, and where its links lead.
const onDisk = `JSON.stringify({text: document.body.innerText.replace(/\s+/g, " "), links: [...document.links].map(a => a.href)})`

// TestPeers writes docs/bench/mirror.md, where make bench-mirror asks for it.
func TestPeers(t *testing.T) {
	weft, page := os.Getenv(peersWeft), os.Getenv(peersPage)
	if page == "" {
		return
	}
	var table strings.Builder
	for _, site := range documentation {
		paths := somePages(t, site.dir, site.pages)
		s := httptest.NewServer(http.FileServer(http.Dir(site.dir)))
		online := make(map[string]string)
		t.Run("online", func(t *testing.T) {
			b := browser.Start(t)
			for _, path := range paths {
				b.Open(s.URL + path)
				online[path] = textOf(t, b.Run(b.Tab, onDisk)).Text
			}
		})
		copies := make([]string, len(peers))
		results := make([]opened, len(peers))
		for i, peer := range peers {
			copies[i] = t.TempDir()
			var list strings.Builder
			for _, path := range paths {
				list.WriteString(s.URL + path + "\n")
			}
			urls := filepath.Join(copies[i], "urls")
			if err := os.WriteFile(urls, []byte(list.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-c", peer.command)
			cmd.Dir, cmd.Env = copies[i], append(os.Environ(), "WEFT="+weft)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Logf("%s: %v: %.300s", peer.name, err, out) // wget has a status for each 404
			}
			results[i].cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		s.Close()
		for i, peer := range peers {
			t.Run(peer.name, func(t *testing.T) {
				inspect(t, browser.Start(t), copies[i], s.URL, online, &results[i])
			})
			r := &results[i]
			fmt.Fprintf(&table, "| %s | %s | %d | %d | %d | %d | %d | %d | %.1f | %.2f |\n", site.name, peer.name,
				r.pages, r.other, r.failed, r.asked, r.dead, r.away, float64(r.size)/1e6, r.cpu.Seconds())
			t.Logf("%s %s: %+v", site.name, peer.name, *r)
		}
	}
	writePage(t, page, table.String())
}

// somePages returns pages of a site, from all of it.
func somePages(t *testing.T, dir, pages string) (paths []string) {
	var all []string
	err := filepath.WalkDir(dir+pages, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".html") {
			all = append(all, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil || len(all) < mostPages {
		t.Fatal(err, len(all))
	}
	for i := range mostPages {
		path := all[i*len(all)/mostPages]
		paths = append(paths, strings.TrimSuffix(path, "index.html"))
	}
	return paths
}

type reading struct {
	Text  string
	Links []string
}

func textOf(t *testing.T, text string) (r reading) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// look opens the pages of a copy.
func inspect(t *testing.T, b *browser.Browser, dir, site string, online map[string]string, r *opened) {
	var files []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "urls" {
			info, _ := d.Info()
			r.size += info.Size()
			files = append(files, path)
		}
		return nil
	})
	for path, want := range online {
		name := fileOf(files, path)
		if name == "" {
			continue
		}
		r.pages++
		b.Watch()
		b.Open(fileURL(name))
		got := textOf(t, b.Run(b.Tab, onDisk))
		if got.Text != want {
			r.other++
		}
		for _, url := range b.Requested {
			if strings.HasPrefix(url, "http") {
				r.asked++
			}
		}
		r.failed += len(b.Failed)
		for _, link := range got.Links {
			u, err := url.Parse(link)
			switch {
			case err != nil:
			case u.Scheme == "file":
				if _, err := os.Stat(u.Path); err != nil {
					r.dead++
				}
			case strings.HasPrefix(link, site):
				if _, here := online[u.Path]; here {
					r.away++
				}
			}
		}
	}
}

// fileOf returns the file of a path: tools differ in the folder for the host.
func fileOf(files []string, path string) string {
	if strings.HasSuffix(path, "/") {
		path += "index.html"
	}
	found := ""
	for _, name := range files {
		if strings.HasSuffix(name, path) && !strings.Contains(name, "/.weft/") && (found == "" || len(name) < len(found)) {
			found = name
		}
	}
	return found
}

func writePage(t *testing.T, page, table string) {
	commit, _ := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	var versions []string
	for _, tool := range []string{"wget", "wget2", "httrack", "chromium"} {
		out, err := exec.Command(tool, "--version").Output()
		first, _, _ := bytes.Cut(out, []byte("\n"))
		versions = append(versions, cmp.Or(strings.TrimSpace(string(first)), fmt.Sprint(tool, ": ", err)))
	}
	var commands strings.Builder
	for _, p := range peers {
		fmt.Fprintf(&commands, "%s\n", strings.Replace(p.command, "$WEFT", "weft", 1))
	}
	text := fmt.Sprintf(`# Mirrors beside wget, wget2 and httrack

20 pages of each of two documentation sites, with what they need, copied by each tool; then opened
from disk in headless Chromium, with the server stopped.

## How it was measured

%s at commit %s, with %s on %d cores, one run. The sites are
python3.11-doc and libboost1.81-doc of Debian; every n-th page by path, on a local server. Each tool
gets the same list of URLs:

`+"```text\n%s```"+`

%s

| column | what it counts |
|---|---|
| pages | of the 20, those that have a file |
| other text | pages that show another text than online |
| failed | resources that could not be loaded |
| asked | requests to the network while pages are opened |
| dead | links to files that are not there |
| away | links to the Web though the page is in the copy |
| MB | all files; of Weft with its job: archive, state, records |
| CPU | user and system time of the command, seconds |

What the server does not have (an image of Boost) is a URL of the Web in copies of wget and wget2,
so it is asked of the network and fails. CPU of Weft includes its archive, its state and a parse for
links; it holds no mark. httrack limits its own pace. Other work kept the machine busy.

## Figures

| site | tool | pages | other text | failed | asked | dead | away | MB | CPU |
|---|---|---|---|---|---|---|---|---|---|
%s`, "`make bench-mirror`", strings.TrimSpace(string(commit)), runtime.Version(), runtime.NumCPU(), commands.String(), "- "+strings.Join(versions, "\n- "), table)
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
