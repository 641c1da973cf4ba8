//go:build linux

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checker is a program that checks all links of a site.
type checker struct {
	name    string
	program string
	args    []string // before the URL
	within  []string // and of a site alone
	beyond  []string // and with links to other sites, some of which never respond
	once    bool     // it takes so long that it is measured once
	read    func(out io.Reader) ([]report, error)
}

func (c *checker) installed() bool {
	_, err := exec.LookPath(c.program)
	return err == nil
}

// report is a link of which a checker says that something is wrong.
type report struct {
	page string // URL of the page that has it
	url  string // as the checker resolves it; as the page writes it, if it reports that
	what what
}

type what int

const (
	whatBroken what = iota
	whatFragment
	whatElse // a warning, or a note
)

// linkcheckerField is the header field by which a server allows linkchecker more than 10 requests a
// second: linkcheckerrc(5), maxrequestspersecond.
const linkcheckerField = "LinkChecker"

// checkers are the programs that are measured, each with what its manual has for fragments, styles
// and redirects.
func checkers(dir, weft, linkinator, linkchecker string) ([]checker, error) {
	// linkchecker gives up root's rights, and reads its files without them.
	const pace = "[checking]\nmaxrequestspersecond=100000\n"
	paced, anchors := filepath.Join(dir, "linkcheckerrc"), filepath.Join(dir, "linkcheckerrc-anchors")
	err := errors.Join(os.WriteFile(paced, []byte(pace), 0o666), os.WriteFile(anchors, []byte(pace+"[AnchorCheck]\n"), 0o666), os.Chmod(dir, 0o755))
	if err != nil {
		return nil, err
	}
	return []checker{
		{
			name: "weft check", program: weft, args: words("check -q --no-config -c 64 --format json"),
			within: words("--no-external"), beyond: words("--timeout 5s"), read: readWeft,
		},
		{
			name: "linkinator", program: linkinator,
			args:   words("--recurse --check-fragments --check-css --redirects error --concurrency 64 --format json"),
			within: words("--skip ^https?://(?!127[.]0[.]0[.]1:)"), beyond: words("--timeout 5000"), read: readLinkinator,
		},
		{
			name: "linkchecker", program: linkchecker, args: words("--no-status -t 10 -o csv"),
			within: words("-f " + paced), // with AnchorCheck it does not end within 20 minutes
			beyond: words("--check-extern --timeout 5 -f " + anchors), once: true, read: readLinkchecker,
		},
	}, nil
}

func words(s string) []string { return strings.Fields(s) }

// withoutFragment makes one URL of all that differ in their fragment.
func withoutFragment(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}

func readWeft(out io.Reader) (all []report, err error) {
	var printed struct {
		Findings []struct{ Rule, Page, URL string }
	}
	err = json.NewDecoder(out).Decode(&printed)
	for _, f := range printed.Findings {
		r := report{f.Page, f.URL, whatElse}
		switch f.Rule {
		case "broken-link":
			r.what = whatBroken
		case "missing-fragment":
			r.what = whatFragment
		}
		all = append(all, r)
	}
	return all, err
}

func readLinkinator(out io.Reader) (all []report, err error) {
	text, err := io.ReadAll(out)
	if err != nil {
		return nil, err
	}
	var printed struct {
		Links []struct {
			URL, State, Parent string
			Status             int
		}
	}
	if at := bytes.IndexByte(text, '{'); at >= 0 {
		err = json.Unmarshal(text[at:], &printed)
	}
	for _, l := range printed.Links {
		if l.State != "BROKEN" {
			continue
		}
		r := report{l.Parent, l.URL, whatBroken}
		switch {
		case l.Status/100 == 2:
			r.what = whatFragment
		case l.Status/100 == 3:
			r.what = whatElse // a redirect
		}
		all = append(all, r)
	}
	return all, err
}

// readLinkchecker reads CSV whose lines are links; those of comments begin with #.
func readLinkchecker(out io.Reader) (all []report, err error) {
	in := csv.NewReader(out)
	in.Comma, in.Comment, in.FieldsPerRecord, in.LazyQuotes = ';', '#', -1, true
	var header []string
	for {
		line, err := in.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if header == nil {
			header = line
			continue
		}
		field := func(name string) string {
			if at := slices.Index(header, name); at >= 0 && at < len(line) {
				return line[at]
			}
			return ""
		}
		r := report{field("parentname"), field("url"), whatElse}
		switch {
		case field("valid") != "True":
			r.what = whatBroken
		case strings.Contains(field("warningstring"), "Anchor "):
			r.what = whatFragment
		}
		if r.url == "" || r.what != whatBroken { // the URL behind redirects
			r.url = field("urlname")
		}
		all = append(all, r)
	}
}
