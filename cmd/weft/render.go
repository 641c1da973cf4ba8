package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/weftcrawl/weft"
)

// renderOptions are those of commands that read a page.
func (c *clientFlags) renderOptions() group {
	return group{"Browser", []option{
		{name: "render", arg: "WHICH", bare: string(weft.RenderAuto), words: []string{"auto", "always", "never"},
			Value: to(&c.render.Pages, oneOf(weft.RenderAuto, weft.RenderAlways, weft.RenderNever)),
			help:  "have Chromium run scripts", def: "never",
			more: "auto, as without WHICH: if it looks empty without them; always; never."},
		{name: "browser", arg: "PROGRAM", Value: to(&c.render.Browser, some("the name or path of Chromium")), advanced: true,
			help: "render with PROGRAM", more: "Default: chromium-headless-shell, chromium or google-chrome, the first that is found."},
	}}
}

// readyToRender looks for the browser, before anything is fetched in vain, and says how its sandbox
// stands.
func (c *clientFlags) readyToRender() error {
	if cmp.Or(c.render.Pages, weft.RenderNever) == weft.RenderNever {
		return nil
	}
	path, err := weft.FindBrowser(c.render.Browser)
	if err != nil {
		return &exit{exitError, err}
	}
	c.render.Browser = path
	if os.Geteuid() == 0 {
		fmt.Fprintln(os.Stderr, "weft: the browser runs as root, and so without its sandbox: run weft as another user where pages are not trusted")
	}
	return nil
}
