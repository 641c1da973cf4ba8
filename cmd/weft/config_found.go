package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/config"
)

// A file that is found in the current folder may be a stranger's, as in a checkout: the person who
// runs a command there has not read it (ADR 39).

// personal are the options that such a file may not set: who receives requests and who may answer
// them, what requests say in the person's name, what a crawl throws away. Those with secrets are,
// too.
var personal = []string{
	"allow-private", "ca", "dns", "insecure", "proxy", "resolve",
	"cookies", "header", "post-data", "post-form", "post-type",
	"session", "signed-out", "submit", "success", "url",
	"cluster", "cluster-ca", "cluster-cert", "cluster-creds", "cluster-key",
	"amend", "delete", "force", "fresh",
	"metrics", "otlp", "web", "host", "listen", "plain-http", "tls-cert", "tls-key", "add-token", "remove-token",
}

// foundMaySet reports why a file that was found may not set a flag so.
func foundMaySet(flag *pflag.Flag, o config.Option) error {
	of := optionOf(flag)
	if of.secret || slices.Contains(personal, of.name) {
		return fmt.Errorf("%s: expected --config %s: a file that is only found may not set it", o.Name, configFile)
	}
	if !isPath(of) {
		return nil
	}
	return areBelow(o, o.Values)
}

// foundMayName reports why the arguments of a command may not be those of a file that was found.
// Some commands take files and folders in place of URLs.
func foundMayName(o config.Option) error {
	return areBelow(o, slices.DeleteFunc(slices.Clone(o.Values), func(arg string) bool {
		_, err := os.Stat(arg)
		return err != nil
	}))
}

// areBelow returns an error unless paths among the values of an option lead below the current
// folder.
func areBelow(o config.Option, paths []string) error {
	for _, path := range paths {
		if err := isBelow(path); path != "-" && err != nil {
			return fmt.Errorf("%s = %.128q: %w, expected one below the current folder that is not hidden, or --config %s",
				o.Name, path, err, configFile)
		}
	}
	return nil
}

// isPath reports whether the value of an option is the path of a file or a folder.
func isPath(o *option) bool {
	return slices.ContainsFunc([]string{"FILE", "DIR", "JOB"}, func(word string) bool { return strings.Contains(o.arg, word) })
}

// isBelow returns an error unless a path leads to a place below the current folder, through any
// links, and by no hidden name: git runs what is in its folder.
func isBelow(path string) error {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(here, path)
	}
	if path, err = resolved(filepath.Clean(path)); err != nil {
		return reason(err)
	}
	if path, err = filepath.Rel(here, path); err != nil || !filepath.IsLocal(path) {
		return errors.New("a place elsewhere")
	}
	for name := range strings.SplitSeq(path, string(filepath.Separator)) {
		if strings.HasPrefix(name, ".") && name != "." {
			return errors.New("a hidden place")
		}
	}
	return nil
}

// resolved returns where a path leads, whose last parts need not be there.
func resolved(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", errors.New("a link to nothing")
	}
	dir, err := resolved(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}
