package content

import (
	"strings"
	"testing"
)

// entry is a page of a reference as DocBook makes it: short, and framed by links and rights.
func entry(head, name, more string) string {
	const nav = `<div class=nav><a href=a><img src=prev.png alt=Prev></a><a href=b><img src=next.png alt=Next></a></div>`
	return `<head>` + head + `<title>Concept Swappable</title></head><body><table><tr><td><a href=/>Home</a><td><a href=/people>People</a></table>` + nav +
		`<div class=refentry><div><h2><span>Concept Swappable</span></h2><p>Swappable</p></div><h2 ` + name + `>Description</h2><p>Types that can be swapped.</p>` +
		`<h2>Notation</h2><dl><dt>X</dt><dd>A type playing the role of swappable-type.</dd></dl><pre>// In header: &lt;<a href=/h>boost/swap.hpp</a>&gt;</pre>` + more + `</div>` +
		`<table><tr><td><div class=copyright-footer>Copyright 2001 Indiana University<br>Copyright 2000 Jeremy Siek<p>Permission to use, copy, modify, distribute and sell this ` +
		`software and its documentation for any purpose is hereby granted without fee, provided that the above notice appears in all copies.</p></div></table><hr>` + nav
}

// TestEntry: of a short page of a manual all is kept but what frames it, though most of its words
// are in its frame and hardly any look like text.
func TestEntry(t *testing.T) {
	const docbook = `<meta name=generator content="DocBook XSL Stylesheets V1.79">`
	for _, c := range []struct {
		head, name, more string
		whole            bool
	}{
		{docbook, "", "", true},
		{"", "id=d", "", false}, // one heading of three can be linked to
		{`<meta name=generator content="WordPress 6.2">`, "", "", false},
		{docbook, "", "<button>Buy</button>", false},
		{docbook, "", "<div><pre>x</pre><div><button>Copy<svg></svg></button></div></div><p><input type=checkbox disabled> done", true},
		{docbook, "", "<pre>x<button>Copy</button></pre><script type=math/tex>x</script>", true},
		// There is more than code.
		{docbook, "", "<div><pre>x</pre><p>y</p><button>Buy</button></div>", false},
		{docbook, "", "<div>" + strings.Repeat("<!---->", mostBeside) + "<pre>x</pre><div><button>Copy</button></div></div>", false},
		{docbook, "", "<input type=text>", false},
		{docbook, "", "<script>x()</script>", false},
	} {
		text := extracted(t, entry(c.head, c.name, c.more), Options{})
		if whole := strings.Contains(text, "playing the role") && strings.Contains(text, "swap.hpp") && !strings.Contains(text, "Permission"); whole != c.whole {
			t.Errorf("%s %s %s: whole is %v in %s", c.head, c.name, c.more, whole, text)
		}
		for _, other := range []string{"Home", "<hr", "prev.png"} {
			if c.whole && strings.Contains(text, other) {
				t.Errorf("%s is in %s", other, text)
			}
		}
	}
}

// TestEntryOfLinks: a page of a manual may have nothing but links, of which none is chosen.
func TestEntryOfLinks(t *testing.T) {
	page := `<meta name=generator content="mkdocs-1.6.1, mkdocs-material"><body><table><tr><td><a href=/>Home</a></table><div><div><h2>Modelled Concepts</h2></div>` +
		`<p><a href=a>Random Access Container</a>, <a href=b>Front Insertion Sequence</a></p></div><p>Copyright 2003 Jan Gaspar. Distributed under the Boost Software License.</p>`
	text := extracted(t, page, Options{})
	if !strings.Contains(text, "Front Insertion") || strings.Contains(text, "License") {
		t.Error(text)
	}
}

// TestSections: sections beside each other are one text, whatever headings they have.
func TestSections(t *testing.T) {
	const prose = "<p>The function returns the value that was given to it, unless the value is empty, and then it returns nothing at all.</p>"
	page := `<meta name=generator content="Docutils 0.17.1: http://docutils.sourceforge.net/"><body><div role=navigation><h3>Navigation</h3><a href=/>index</a></div><div role=main>` +
		`<section><h1>Slices</h1>` + strings.Repeat(prose, 20) + `</section><section><h1>Ellipsis</h1><dl><dt>PyObject *Py_Ellipsis</dt></dl></section></div><div>` + "©" + ` Copyright 2001</div>`
	text := extracted(t, page, Options{})
	if !strings.Contains(text, "Py_Ellipsis") || strings.Contains(text, "index") || strings.Contains(text, "2001") {
		t.Error(text)
	}
}

// TestTitlePage: of a known site, too, the title page of a chapter belongs to it.
func TestTitlePage(t *testing.T) {
	const prose = "<p>The function returns the value that was given to it, unless the value is empty, and then it returns nothing at all.</p>"
	page := `<meta name=generator content="DocBook XSL Stylesheets"><body><div class=chapter><div class=titlepage><h2 class=title>Chapter 7. Circular Buffer</h2>` +
		`<div class=author><h3 class=author>Jan Gaspar</h3></div><p class=copyright>Copyright 2003 Jan Gaspar</p>` +
		`<div class=legalnotice><p>Distributed under the Boost Software License, Version 1.0. See accompanying file LICENSE.</p></div></div>` +
		`<div class=toc><p>Table of Contents</p><dl class=toc>` + strings.Repeat(`<dt><span class=section><a href=/a>Rationale</a></span></dt>`, 12) +
		`</dl></div><div class=section><div class=titlepage><h2 class=title>Introduction</h2></div>` + strings.Repeat(prose, 12) + `</div></div>`
	if text := solid(t, page); !strings.Contains(text, "Jan Gaspar") || !strings.Contains(text, "Rationale") {
		t.Error(text)
	}
}

// TestAside: an aside with a text of its own is part of a manual; one of links is a menu.
func TestAside(t *testing.T) {
	const prose = "<p>The function returns the value that was given to it, unless the value is empty, and then it returns nothing at all.</p>"
	page := `<body><div class=doc><h1>Regular expressions</h1><aside><p>Abstract</p><p>This document is an introductory tutorial.</p></aside>` + strings.Repeat(prose, 3) +
		`<aside><p>Contents</p><a href=a>Simple patterns</a> <a href=b>Compiling</a></aside>` + strings.Repeat(prose, 3) + `</div>`
	if text := solid(t, page); !strings.Contains(text, "introductory") || strings.Contains(text, "Compiling") {
		t.Error(text)
	}
}

// TestLinkedPictures: a picture that leads to another page is content only where the text is, and
// one that is hidden nowhere.
func TestLinkedPictures(t *testing.T) {
	const prose = "<p>The function returns the value that was given to it, unless the value is empty, and then it returns nothing at all.</p>"
	page := `<body><div><a href=/><img src=logo.png></a></div><article><h1>Functions</h1>` + prose + `<a href=large.png><img src=small.png></a><img src=minus.png style="display: none">` + strings.Repeat(prose, 3) +
		`</article><div><img src=plain.png><a href=/b><img src=next.png></a></div>`
	text := extracted(t, page, Options{})
	for name, want := range map[string]bool{"logo": false, "small": true, "plain": true, "next": false, "minus": false} {
		if got := strings.Contains(text, name+".png"); got != want {
			t.Errorf("%s: %v in %s", name, got, text)
		}
	}
}
