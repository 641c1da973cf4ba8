package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

func main() {
	keepHangups(os.Args[1:])
	out := &watched{Writer: os.Stdout}
	root := rootCommand(out, os.Args[1:]...)
	root.SetArgs(joined(root, os.Args[1:]))
	err := root.Execute()
	if out.err != nil {
		err = standardOutput(out.err)
	}
	var e *exit
	switch {
	case err == nil:
		return
	case !errors.As(err, &e): // of cobra
		e = &exit{exitUsage, err}
	}
	if e.err != nil {
		fmt.Fprintf(os.Stderr, "weft: %s\n", printable(e.err.Error()))
	}
	var a *advice
	if errors.As(e.err, &a) {
		for _, line := range a.lines() {
			fmt.Fprintln(os.Stderr, printable(line))
		}
	}
	os.Exit(e.code)
}

// rootCommand returns the command tree, which prints to out. With the arguments of a command it has
// that one alone, and starts sooner, unless a file may have options of all.
func rootCommand(out io.Writer, args ...string) *cobra.Command {
	var c configFlags
	root := &cobra.Command{
		Use:           "weft COMMAND",
		Short:         "A polite web crawler",
		Long:          "Weft is a polite web crawler.",
		Example:       "weft crawl https://example.org/",
		Version:       weft.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          showHelp,

		SuggestionsMinimumDistance: 2,
		DisableFlagsInUseLine:      true,
	}
	root.SetOut(out)
	root.SetHelpFunc(printHelp)
	root.SetFlagErrorFunc(misread)
	root.AddGroup(sections...)
	cobra.EnableCommandSorting = false // the help lists them in this order
	all := makers(&c)
	if len(args) > 0 && !namesFile(args) {
		if i := slices.IndexFunc(all, func(m maker) bool { return m.name == args[0] && !m.shows }); i >= 0 {
			all = all[i : i+1]
		}
	}
	for _, m := range all {
		root.AddCommand(m.make())
	}
	c.define(root)
	c.adopt(root)
	root.Flags().Bool("version", false, "print the version") // cobra's own would take -v
	root.SetVersionTemplate(buildLine())
	adoptHelp(root)
	adoptCompletion(root)
	return root
}

// namesFile reports whether there may be a file of options: the one that is found, or one that the
// arguments name.
func namesFile(args []string) bool {
	_, err := os.Stat(configFile)
	return err == nil || slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--config") || strings.HasPrefix(arg, "--profile")
	})
}

// maker makes a command.
type maker struct {
	name  string
	make  func() *cobra.Command
	shows bool // others, too
}

// makers are those of all commands, in the order of the help.
func makers(c *configFlags) []maker {
	return []maker{
		{"crawl", crawlCommand, false},
		{"check", checkCommand, false},
		{"mirror", mirrorCommand, false},
		{"login", loginCommand, false},
		{"demo", demoCommand, false},
		{"status", statusCommand, false},
		{"hosts", hostsCommand, false},
		{"urls", urlsCommand, false},
		{"why", whyCommand, false},
		{"cat", catCommand, false},
		{"export", exportCommand, false},
		{"read", readCommand, false},
		{"diff", diffCommand, false},
		{"ctl", ctlCommand, false},
		{"web", webCommand, false},
		{"fetch", fetchCommand, false},
		{"links", linksCommand, false},
		{"extract", fieldsCommand, false},
		{"sitemap", sitemapCommand, false},
		{"robots", robotsCommand, false},
		{"url", urlCommand, false},
		{"charset", charsetCommand, false},
		{"warc", warcCommand, false},
		{"wacz", waczCommand, false},
		{"replay", replayCommand, false},
		{"serve", serveCommand, false},
		{"mcp", mcpCommand, false},
		{"cluster", clusterCommand, false},
		{"kinds", kindsCommand, false},
		{"man", manCommand, true},
		{"config", func() *cobra.Command { return configCommand(c) }, true},
		{"version", versionCommand, false},
		{"lab", labCommand, false},
	}
}

// knownCommand is oneCommand that also knows words for a change of a job.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && meansJob(args[0]) != "" {
		return usage("%q: no command, expected %s", args[0], strings.ReplaceAll(meansJob(args[0]), "JOB", jobOr(args[1:])))
	}
	return oneCommand(cmd, args)
}

// meansJob returns the command lines that people mean by a word for a change of a job.
func meansJob(word string) string {
	switch {
	case word == "resume":
		return "weft ctl JOB resume after a pause, or weft crawl --job JOB if it does not run"
	case word == "update", word == "recrawl":
		return "weft crawl --update JOB"
	case word == "retry":
		return "weft crawl --retry-failed JOB"
	case isOrder(word):
		return "weft ctl JOB " + word
	}
	return ""
}

// jobOr returns the job among arguments, or the word for it.
func jobOr(args []string) string {
	if len(args) > 0 && holdsJob(args[0]) {
		return args[0]
	}
	return "JOB"
}

// adoptHelp makes cobra's help command refuse unknown commands.
func adoptHelp(root *cobra.Command) {
	root.SetHelpCommandGroupID(sectionTools)
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Short, help.Hidden = "Show the help of a command", true // the usage says the same
	help.Args = func(_ *cobra.Command, args []string) error {
		cmd, rest, _ := root.Find(args)
		return oneCommand(cmd, rest)
	}
}

// adoptCompletion makes cobra's completion command refuse unknown shells.
func adoptCompletion(root *cobra.Command) {
	root.SetCompletionCommandGroupID(sectionTools)
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.Short = "Generate completions for bash, zsh, fish or PowerShell"
	completion.Use, completion.DisableFlagsInUseLine = "completion SHELL", true
	completion.Args, completion.RunE = oneCommand, showHelp
}

// watched keeps the first error of writing to standard output: cobra drops them.
type watched struct {
	io.Writer
	err error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}
