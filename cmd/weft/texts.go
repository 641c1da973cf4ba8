package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/results"
)

// textFlags select the texts that a crawl writes when it ends.
type textFlags struct{ markdown, plain bool }

func (f *textFlags) any() bool { return f.markdown || f.plain }

// possible refuses texts of an old job that keeps no bodies.
func (f *textFlags) possible(dir string, old bool) error {
	if !f.any() || !old {
		return nil
	}
	bodies, err := results.OpenBodies(dir)
	if err != nil {
		return nil // the crawl says so
	}
	defer bodies.Close()
	if !bodies.Any() && isFolder(dir) {
		return usage("--markdown and --text: %.128q has no bodies, expected a job of weft crawl --markdown, --warc or --bodies", dir)
	}
	return nil
}

// write writes the texts of a crawl that has ended, or was stopped by a limit.
func (f *textFlags) write(con *console, dir string, ended error) error {
	var e *exit
	if !f.any() || ended != nil && (!errors.As(ended, &e) || e.code != exitLimit) {
		return ended
	}
	signal.Stop(con.signals) // they were for the crawl
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, plain := range []bool{false, true} {
		if plain && !f.plain || !plain && !f.markdown {
			continue
		}
		to := filepath.Join(dir, textFolder(plain))
		makesTrees.Store(true)
		c, err := read.Folder(ctx, dir, to, read.Options{Text: plain, Temp: dir})
		if ctx.Err() != nil {
			return &exit{exitInterrupted, errors.New("interrupted: the same command goes on")}
		}
		if err != nil {
			return &exit{exitError, fmt.Errorf("%s: %w", to, reason(err))}
		}
		for line := range strings.Lines(said(to, c, false)) {
			if !strings.Contains(line, emptyPages) { // the report of the crawl has said so
				con.say(strings.TrimSpace(line))
			}
		}
	}
	return ended
}
