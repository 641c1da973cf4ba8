package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Sections of weft --help. A command names its own as GroupID.
const (
	sectionCrawl = "crawl"
	sectionJob   = "job"
	sectionURL   = "url"
	sectionTools = "tools"
)

var sections = []*cobra.Group{
	{ID: sectionCrawl, Title: "Crawl"},
	{ID: sectionJob, Title: "Look inside a job"},
	{ID: sectionURL, Title: "One URL or page"},
	{ID: sectionTools, Title: "Tools"},
}

// detail is the annotation of a command that holds what only --help-all and the manual
// show, behind the Long text.
const detail = "detail"

// detailed annotates a command with its detail.
func detailed(text string) map[string]string {
	return map[string]string{detail: strings.Trim(text, "\n")}
}

// allFlag is --help-all: it asks for help, and for all of it.
type allFlag struct {
	toggle
	flags *pflag.FlagSet
}

func (a *allFlag) Set(s string) error {
	err := a.toggle.Set(s)
	if err == nil && bool(a.toggle) {
		err = a.flags.Set("help", "true")
	}
	return err
}

// defineHelp adds --help, and --help-all to a command that has more to show.
func defineHelp(cmd *cobra.Command) {
	f := cmd.Flags()
	more := cmd.Annotations[detail] != ""
	f.VisitAll(func(flag *pflag.Flag) { more = more || optionOf(flag).advanced })
	help := option{Value: on(new(bool)), name: "help", short: "h", help: "print this help"}
	f.VarPF(&help, help.name, help.short, help.help).NoOptDefVal = "true"
	if more {
		all := option{Value: &allFlag{flags: f}, name: "help-all", help: "print all flags and details"}
		f.VarPF(&all, all.name, "", all.help).NoOptDefVal = "true"
	}
}

// fullHelp is the command line that shows all help of a command.
func fullHelp(cmd *cobra.Command) string {
	if cmd.Flags().Lookup("help-all") != nil {
		return cmd.CommandPath() + " --help-all"
	}
	return cmd.CommandPath() + " --help"
}

// showHelp runs a command without a task of its own.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// printHelp prints the help of any command.
func printHelp(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	all, _ := cmd.Flags().GetBool("help-all")
	fmt.Fprintln(w, summary(cmd))
	if all && cmd.Annotations[detail] != "" {
		fmt.Fprintf(w, "\n%s\n", cmd.Annotations[detail])
	}
	if cmd.Runnable() {
		fmt.Fprintf(w, "\nUsage: %s%s\n", cmd.UseLine(), explains(cmd))
	}
	if strings.Contains(cmd.Example, "\n") {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	} else if cmd.Example != "" {
		fmt.Fprintf(w, "Example: %s\n", strings.TrimSpace(cmd.Example))
	}
	writeCommands(w, cmd)
	groups := flagGroups(cmd, all)
	width, widest := 0, widestFlag
	if all {
		widest = narrowFlag
	}
	for _, g := range groups {
		for _, o := range g.options {
			if n := len(o.synopsis()); n <= widest {
				width = max(width, n)
			}
		}
	}
	for _, g := range groups {
		if !cmd.HasParent() { // the commands need the lines
			writeBrief(w, g)
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", g.title)
		for _, o := range g.options {
			o.write(w, width, all)
		}
	}
	if !all && cmd.Flags().Lookup("help-all") != nil {
		fmt.Fprintf(w, "\n%s --help-all shows all flags and details.\n", cmd.CommandPath())
	}
}

// explains says how to come by the help of the sub-commands.
func explains(cmd *cobra.Command) string {
	if !cmd.HasAvailableSubCommands() {
		return ""
	}
	return fmt.Sprintf(" (%s COMMAND --help explains it)", cmd.CommandPath())
}

// writeBrief lists the options of a group without what they do.
func writeBrief(w io.Writer, g group) {
	names := make([]string, len(g.options))
	for i, o := range g.options {
		names[i] = strings.TrimSpace(o.synopsis())
	}
	fmt.Fprintf(w, "\n%s: %s\n", g.title, strings.Join(names, ", "))
}

// summary is the text above everything else.
func summary(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return strings.TrimSpace(cmd.Long)
	}
	return cmd.Short + "."
}

// writeCommands lists the sub-commands by section, in the order in which they were added.
func writeCommands(w io.Writer, parent *cobra.Command) {
	for _, s := range append(parent.Groups(), &cobra.Group{Title: "Commands"}) {
		title := "\n" + s.Title + ":\n"
		for _, cmd := range parent.Commands() {
			if cmd.GroupID == s.ID && !cmd.Hidden {
				fmt.Fprintf(w, "%s  %-11s %s\n", title, cmd.Name(), cmd.Short)
				title = ""
			}
		}
	}
}

// flagGroups returns the options of a command by group; --help and --help-all are not
// among them, and the advanced ones only if all is set.
func flagGroups(cmd *cobra.Command, all bool) []group {
	var groups []group
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		o := optionOf(f)
		if o.group == "" || f.Hidden || o.advanced && !all {
			return
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.title == o.group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{title: o.group})
		}
		groups[i].options = append(groups[i].options, *o)
	})
	return groups
}

// Widths of the help, in cells. The text of a flag that is wider than its column starts on the
// next line.
const (
	widestHelp = 80
	widestFlag = 26 // of --help
	narrowFlag = 22 // of --help-all, which has longer texts
)

// synopsis is "-d, --depth N".
func (o *option) synopsis() string {
	s := "    --" + o.name
	if o.short != "" {
		s = "-" + o.short + ", --" + o.name
	}
	switch {
	case o.bare != "":
		s += " [" + o.arg + "]"
	case o.arg != "":
		s += " " + o.arg
	}
	return s
}

// text is the help of an option, with its default.
func (o *option) text() string {
	if o.def == "" {
		return o.help
	}
	return o.help + " (default: " + o.def + ")"
}

// write prints an option: one line, and the further ones if all is set.
func (o *option) write(w io.Writer, width int, all bool) {
	title := o.synopsis()
	if len(title) > width {
		fmt.Fprintf(w, "  %s\n", title)
		title = ""
	}
	lines := []string{o.text()}
	if all {
		room := widestHelp - len("    ") - width
		more := o.more
		if len(o.text()) > room && o.def != "" {
			lines[0], more = o.help, "Default: "+o.def+". "+more
		}
		lines = append(wrap(lines[0], room), wrap(more, room)...)
	}
	for _, line := range lines {
		fmt.Fprintf(w, "  %-*s  %s\n", width, title, line)
		title = ""
	}
}

// wrap breaks a text into lines of at most width cells, unless a word is longer.
func wrap(text string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
