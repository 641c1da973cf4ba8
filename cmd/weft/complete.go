package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/weburl"
)

// words completes one of a few words.
func words(all ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return starting(typed, all), cobra.ShellCompDirectiveNoFileComp
	}
}

// starting returns the words that start with what was typed.
func starting(typed string, all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		return !strings.HasPrefix(s, typed)
	})
}

// nothing completes what only the user knows, such as a URL or a number.
var nothing = words()

// completeFlag registers what completes the value of an option.
func completeFlag(cmd *cobra.Command, o *option) {
	complete := nothing
	switch {
	case len(o.words) > 0:
		complete = words(o.words...)
	case o.arg == "RULES":
		complete = completeRules
	case o.arg == "DIR", o.arg == "JOB":
		complete = completeJob
	case o.arg == "FILE", o.arg == "":
		return // files, as the shell completes them; a switch has no value
	}
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(o.name, complete)
}

// isJob reports whether a folder looks like that of a job.
func isJob(path string) bool {
	info, err := os.Stat(filepath.Join(path, "state"))
	return err == nil && info.IsDir() || strings.HasSuffix(path, ".weft")
}

// completeJob completes the folder of a job; where there is none, any folder that may
// lead to one.
func completeJob(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	dir, name := filepath.Split(typed)
	entries, _ := os.ReadDir(filepath.Clean(dir)) // an empty one is "."
	var jobs []string
	for _, e := range entries {
		path := dir + e.Name()
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		if strings.HasPrefix(e.Name(), name) && isJob(path) {
			jobs = append(jobs, path)
		}
	}
	if len(jobs) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return jobs, cobra.ShellCompDirectiveNoFileComp
}

// completeFirst completes the first argument as complete does, and nothing after it.
func completeFirst(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nothing(cmd, args, typed)
		}
		return complete(cmd, args, typed)
	}
}

// completeRules completes the last of the canonicalization rules in a list with commas.
func completeRules(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	given := strings.Split(typed, ",")
	given = given[:len(given)-1]
	before := strings.Join(append(given, ""), ",")
	var lists []string
	for _, r := range weburl.Rules() {
		if !slices.Contains(given, r.Name) {
			lists = append(lists, cobra.CompletionWithDesc(before+r.Name, r.Doc))
		}
	}
	return starting(typed, lists), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeOrder completes JOB ORDER ARG... of weft ctl.
func completeOrder(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return completeJob(cmd, args, typed)
	case len(args) == 1:
		var names []string
		for _, o := range orders {
			names = append(names, cobra.CompletionWithDesc(o.name, o.does))
		}
		return starting(typed, names), cobra.ShellCompDirectiveNoFileComp
	case args[1] == "set":
		return starting(typed, settings), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return nothing(cmd, args, typed)
}
