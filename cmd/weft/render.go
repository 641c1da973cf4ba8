package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/render"
)

// renderOptions are those of commands that read a page.
func (c *clientFlags) renderOptions() group {
	return group{"Browser", []option{
		{name: "render", caller: true, arg: "WHICH", bare: string(weft.RenderAuto), words: []string{"auto", "always", "never"},
			field: "Rendering", Value: to(&c.render.Rendering, oneOf(weft.RenderAuto, weft.RenderAlways, weft.RenderNever)),
			help: "have Chromium run scripts", def: "never",
			more: "auto, as without WHICH: if it looks empty without them; always; never."},
		{name: "wait", caller: true, field: "Wait", advanced: true, arg: "SELECTOR|D", Value: to(&c.render.Wait, waited),
			help: "wait for an element, or D of time", def: "10s",
			more: "SELECTOR is CSS. An element that is not there after 30 s is an error. The time is that of the page, which jumps from timer to timer. " + rendersAlways},
		{name: "scroll", caller: true, field: "Scroll", advanced: true, arg: "N", Value: to(&c.render.Scroll, number(1)),
			help: "scroll by up to N screens, until nothing new comes",
			more: "<details> are opened, too. " + rendersAlways},
		{name: "click", field: "Click", advanced: true, arg: "SELECTOR", Value: to(&c.render.Click, selector),
			help: "click what brings more, until nothing new comes",
			more: "Each element is clicked until it is gone or brings nothing new, 200 times in all at most. " + rendersAlways},
		{name: "render-post", field: "RenderPost", advanced: true, Value: on(&c.render.RenderPost),
			help: "let scripts of pages send POSTs to their own site",
			more: "The site is the registrable domain of the page. Without, a page whose content comes by POST, as with GraphQL, lacks it."},
		{name: "block", field: "Block", advanced: true, arg: "FILE", Value: appended(&c.blocks, blockList),
			help: "make no request of pages that FILE blocks; repeatable",
			more: "FILE has filters as EasyList has them, domains, or lines of a hosts file."},
		c.browserOption(),
	}}
}

func (c *clientFlags) browserOption() option {
	return option{name: "browser", arg: "PROGRAM", field: "Browser", Value: to(&c.render.Browser, some("the name or path of Chromium")), advanced: true,
		help: "render with PROGRAM", more: "Default: chromium-headless-shell, chromium or google-chrome, the first that is found."}
}

// rendersAlways ends the help of options of single pages.
const rendersAlways = "Implies --render=always."

// blocked is the list of a file.
type blocked struct {
	file string
	list *weft.BlockList
}

// blockList reads a file of block rules.
func blockList(file string) (b blocked, err error) {
	f, err := os.Open(file)
	if err != nil {
		return b, fmt.Errorf("%w, expected a file of block rules", reason(err))
	}
	defer f.Close()
	list, err := weft.ReadBlockList(f)
	return blocked{file, list}, reason(err)
}

// block hands on the block rules. It calls warn for rules that are skipped.
func (c *clientFlags) block(warn func(string)) {
	for _, b := range c.blocks {
		c.render.Block = append(c.render.Block, b.list)
		if n, line, why := b.list.Skipped(); n > 0 {
			warn(fmt.Sprintf("--block %.128q: %s of %s skipped, the first in line %d: %s", b.file, count(n), plural(n+b.list.Len(), "rule"), line, why))
		}
	}
}

// selector checks what is to be clicked.
func selector(s string) (string, error) {
	s, err := some("a CSS selector such as .more")(s)
	if err == nil {
		err = render.CheckSelector(s)
	}
	return s, err
}

// waited checks what is to be waited for.
func waited(s string) (string, error) {
	_, err := render.ParseWait(s)
	return s, err
}

// needsBrowser returns the flag that has a browser render the page, or "".
func (c *clientFlags) needsBrowser() string {
	r := &c.render
	for _, f := range []struct {
		name  string
		given bool
	}{{"wait", r.Wait != ""}, {"scroll", r.Scroll > 0}, {"click", r.Click != ""}, {"screenshot", r.Screenshot != ""}, {"pdf", r.PDF}, {"render", r.Rendering != ""}} {
		if f.given {
			return f.name
		}
	}
	return ""
}

// implied has pages rendered for options that mean nothing without.
func (c *clientFlags) implied() error {
	if flag := c.needsBrowser(); flag != "" && flag != "render" {
		if c.render.Rendering == weft.RenderNever {
			return usage("--%s and --render=never: expected one of them", flag)
		}
		c.render.Rendering = weft.RenderAlways
	}
	return nil
}

// idle returns the error of an option about pages that are rendered, where none is.
func (c *clientFlags) idle() error {
	switch {
	case c.renders():
		return nil
	case len(c.blocks) > 0:
		return usage("--block: expected together with --render")
	case c.render.RenderPost:
		return usage("--render-post: expected together with --render")
	}
	return nil
}

// renders reports whether any page may be rendered.
func (c *clientFlags) renders() bool {
	return cmp.Or(c.render.Rendering, weft.RenderNever) != weft.RenderNever
}

// readyToRender looks for the browser, before anything is fetched in vain, and says how its sandbox
// stands.
func (c *clientFlags) readyToRender() error {
	if err := c.implied(); err != nil {
		return err
	}
	if err := c.idle(); err != nil || !c.renders() {
		return err
	}
	c.block(func(text string) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(text)) })
	path, err := readyBrowser(c.render.Browser)
	c.render.Browser = path
	return err
}

// readyBrowser looks for the browser, and says how its sandbox stands.
func readyBrowser(program string) (path string, err error) {
	if path, err = weft.FindBrowser(program); err != nil {
		return "", &exit{exitError, err}
	}
	saySandbox(path)
	return path, nil
}

// saySandbox says how the sandbox of a browser stands.
func saySandbox(path string) {
	if text, _ := render.Sandbox(path, ""); text != "" {
		fmt.Fprintln(os.Stderr, "weft:", printable(text))
	}
}

// mostAwaited is the page time for an element to come.
const mostAwaited = "30 s of page time"

// inTime says what of a page that was rendered has failed, and what it has not had the time or the
// room for. It is an error where the page lacks what it was to have.
func (c *clientFlags) inTime(p *weft.Page) error {
	if p == nil || p.Rendered == nil {
		return nil
	}
	if text := troubles(p.Rendered); text != "" {
		fmt.Fprintf(os.Stderr, "weft: %s: %s\n", printable(p.URL), text)
	}
	if p.Rendered.Cut == "wait" {
		return &exit{exitError, fmt.Errorf("%s: nothing matches --wait %.128q after %s", printable(p.URL), c.render.Wait, mostAwaited)}
	}
	if said := lackOf(p.Rendered.Cut); said != "" {
		fmt.Fprintf(os.Stderr, "weft: %s is incomplete: %s\n", printable(p.URL), said)
	}
	return nil
}

// lackOf says why a page is incomplete, by its limit; "": it is whole.
func lackOf(cut string) string {
	switch cut {
	case "":
		return ""
	case "time":
		return "it was not quiet after 30 s"
	case "requests":
		return "it made more than 500 requests"
	case "bytes":
		return "its requests brought more than 128 MiB"
	}
	return "it failed after a while: " + cut
}

// troubles returns how many requests and scripts of a page have failed, and the first of each; "":
// none. A script that complains of a request which Weft does not make, by a rule, has no fault.
func troubles(r *weft.Rendered) string {
	var failed, errs []string
	byRule := false
	for _, x := range r.Refused {
		if byRule = byRule || x.ByRule; !x.ByRule {
			failed = append(failed, x.URL+" ("+x.Reason+")")
		}
	}
	for _, message := range r.Errors {
		if first, _, _ := strings.Cut(message, "\n"); !byRule || !strings.HasSuffix(first, "TypeError: Failed to fetch") {
			errs = append(errs, first)
		}
	}
	var parts []string
	for _, t := range []struct {
		noun string
		all  []string
	}{{"request", failed}, {"script", errs}} {
		switch n := len(t.all); {
		case n == 1:
			parts = append(parts, fmt.Sprintf("a %s failed: %s", t.noun, brief(t.all[0])))
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s failed, the first: %s", plural(n, t.noun), brief(t.all[0])))
		}
	}
	return strings.Join(parts, "; ")
}

// brief returns the beginning of a text for a message.
func brief(text string) string {
	const most = 160
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return printable(text)
}
