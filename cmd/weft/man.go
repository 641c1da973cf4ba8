package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages to a folder",
		GroupID: sectionTools,
		Long: `Write a manual page for each command to a folder: weft.1, weft-crawl.1 and so
on.

Exit status: 0 done, 1 a page could not be written, 3 usage error.`,
		Example: `  weft man /usr/local/share/man/man1`,
		Args:    aFolder,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writePages(args[0], cmd.Root()) },

		DisableFlagsInUseLine: true,
	}
}

// aFolder accepts the name of a folder. That of a command is a mistake, unless there is such a
// folder.
func aFolder(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) == 0 && about.HasParent() {
		if _, err := os.Stat(args[0]); err != nil {
			return usage("man: %q: a command, expected a folder for the manual pages: %s explains it",
				strings.Join(args, " "), fullHelp(about))
		}
	}
	return arguments(1, 1, "argument", "a folder")(cmd, args)
}

// writePages writes the pages of a command and those below it.
func writePages(dir string, cmd *cobra.Command) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usage("man: %.128q: %w, expected a folder", dir, reason(err))
	}
	var b strings.Builder
	writePage(&b, cmd)
	path := filepath.Join(dir, pageName(cmd)+".1")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		return &exit{exitError, fmt.Errorf("man: %w", err)}
	}
	for _, sub := range subCommands(cmd) {
		if err := writePages(dir, sub); err != nil {
			return err
		}
	}
	return nil
}

// subCommands returns the commands that have a page below cmd.
func subCommands(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(sub *cobra.Command) bool {
		return sub.Hidden || sub.Name() == "help"
	})
}

// pageName is weft-robots-test.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writePage writes the manual page of a command in the man macros: see man(7).
func writePage(w io.Writer, cmd *cobra.Command) {
	line := func(macro, format string, args ...any) {
		fmt.Fprintf(w, "%s%s\n", macro, roff(fmt.Sprintf(format, args...)))
	}
	title := roff(strings.ToUpper(pageName(cmd)))
	fmt.Fprintf(w, ".TH %s 1 \"\" \"weft %s\" \"Weft\"\n", title, weft.Version)
	line(".SH ", "NAME")
	line("", "%s - %s", pageName(cmd), cmd.Short)
	line(".SH ", "SYNOPSIS")
	line(".B ", "%s", cmd.UseLine())
	line(".SH ", "DESCRIPTION")
	describe(w, summary(cmd)+"\n\n"+cmd.Annotations[detail])
	groups := flagGroups(cmd, true)
	if len(groups) > 0 {
		line(".SH ", "OPTIONS")
	}
	for _, g := range groups {
		line(".SS ", "%s", g.title)
		for _, o := range g.options {
			line(".TP\n.B ", "%s", strings.TrimSpace(o.synopsis()))
			line("", "%s.", o.text())
			if o.more != "" {
				line("", "%s", o.more)
			}
		}
	}
	pages := subCommands(cmd)
	if len(pages) > 0 {
		line(".SH ", "COMMANDS")
	}
	for _, p := range pages {
		line(".TP\n.B ", "%s", p.Name())
		line("", "%s.", p.Short)
	}
	if cmd.Example != "" {
		line(".SH ", "EXAMPLES")
		literally(w, cmd.Example)
	}
	if cmd.HasParent() {
		pages = append(pages, cmd.Parent())
	}
	line(".SH ", "SEE ALSO")
	names := make([]string, len(pages))
	for i, p := range pages {
		names[i] = pageName(p) + "(1)"
	}
	line("", "%s", strings.Join(names, ", "))
}

// describe writes paragraphs; the lines of one with indented lines are kept as they are.
func describe(w io.Writer, text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		fmt.Fprintln(w, ".PP")
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") {
			literally(w, paragraph)
		} else {
			fmt.Fprintln(w, roff(paragraph))
		}
	}
}

// literally writes text whose line breaks and indents count.
func literally(w io.Writer, text string) { fmt.Fprintf(w, ".nf\n%s\n.fi\n", roff(text)) }

// roff escapes text: what starts a line is never a request, and no dash becomes another sign.
func roff(text string) string {
	escapes := strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`)
	lines := strings.Split(escapes.Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
