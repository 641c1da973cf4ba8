package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/internal/config"
)

func configCommand(c *configFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Make, check and show the file with options",
		GroupID: sectionTools,
		Long: `A file named weft.toml in the current folder, or the FILE of --config, has
options of all commands by the names of their flags. A flag on the command line
overrides the file.

  user-agent = "example-bot/1.0 (+https://example.org/bot)"

  [crawl]
  urls = ["https://example.org/", "https://example.com/"]
  exclude = ['[.]zip$', '/calendar/']
  depth = 3

  [profile.ci.crawl]
  max-time = "10m"

Options before the first table are for every command that has them, those of
[crawl] for weft crawl, and those of [profile.ci] and [profile.ci.crawl] hold
with --profile ci. The more specific one counts.

Who runs a command in a stranger's folder may not know of its weft.toml: a
command says which options it takes from there. Without --config weft.toml, that
file sets no proxy, header, credential or cluster, nothing that says which
server answers or that a private address may be reached, and nothing that
throws results away. Paths in it lead to places below the folder which are not
hidden.`,
		Args: oneCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(configInitCommand(), configCheckCommand(c), configShowCommand(c))
	define(cmd)
	return cmd
}

func configInitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a file with all options of weft crawl, each commented out",
		Long: `Write a file, weft.toml by default, with all options of weft crawl, each
commented out. A file that is there stays as it is.

Exit status: 0 done; 1 the file is there, or cannot be written; 3 usage error.`,
		Args:        arguments(0, 1, "file", "at most one FILE"),
		Annotations: map[string]string{ignoresConfig: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			path := configFile
			if len(args) > 0 {
				path = args[0]
			}
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			if err == nil {
				_, err = io.WriteString(f, configTemplate())
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				return &exit{exitError, fmt.Errorf("%.128q: %w", path, reason(err))}
			}
			return nil
		},
	}
	define(cmd)
	return cmd
}

// configTemplate is a file with every option of weft crawl.
func configTemplate() string {
	var b strings.Builder
	b.WriteString("# Options of weft. A flag on the command line goes before what stands here.\n" +
		"# weft config --help explains this file, weft config show what holds.\n\n[crawl]\n\n" +
		"# URLs to begin with\n# urls = [\"https://example.org/\"]\n")
	for _, g := range new(crawlFlags).groups() {
		fmt.Fprintf(&b, "\n# %s\n", g.title)
		for _, o := range g.options {
			fmt.Fprintf(&b, "\n# %s\n# %s = %s\n", o.text(), keyOf(o.name), exampleOf(&o))
		}
	}
	return b.String()
}

// keyOf is the name of an option as TOML has it: a dot would part it.
func keyOf(name string) string {
	if strings.Contains(name, ".") {
		return strconv.Quote(name)
	}
	return name
}

// exampleOf is the value of an option that the template shows.
func exampleOf(o *option) string {
	switch {
	case o.arg == "":
		return "true"
	case o.Type() == "stringArray":
		return fmt.Sprintf("[%q]", o.arg)
	case len(o.words) > 0:
		return fmt.Sprintf("%q", o.words[0])
	case strings.Trim(o.def, "0123456789.") == "" && o.def != "":
		return o.def
	}
	return fmt.Sprintf("%q", o.arg)
}

func configCheckCommand(c *configFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a file: names, and values of every profile",
		Long: `Check the file with options: every table, name and value, of every profile.

Exit status: 0 no mistake; 3 there is one, or no file.`,
		Args:        noArguments,
		Annotations: map[string]string{ignoresConfig: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := c.mustRead(cmd.Root())
			if err != nil {
				return err
			}
			// By profile and command: each table sets an option once.
			tables := make(map[[2]string]*cobra.Command)
			for _, o := range options {
				table := [2]string{o.Profile, o.Command}
				if tables[table] == nil {
					tables[table] = rootCommand(io.Discard)
				}
				if err := checkValue(tables[table], o); err != nil {
					return c.misused(o.Line, err)
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", printable(c.path()), plural(len(options), "option"))
			return standardOutput(err)
		},
	}
	define(cmd)
	return cmd
}

// mustRead is read where there must be a file.
func (c *configFlags) mustRead(root *cobra.Command) ([]config.Option, error) {
	if c.file == "" {
		c.file = configFile
	}
	return c.read(root)
}

// checkValue sets an option of commands that will not run.
func checkValue(root *cobra.Command, o config.Option) error {
	if o.Name == urlsKey || ofItems(o) || ofSchedule(o) {
		return nil
	}
	for cmd := range below(root) {
		if takes(cmd, o.Name) && (o.Command == "" || o.Command == wordsOf(cmd)) {
			if err := set(cmd.Flags().Lookup(o.Name), o); err != nil {
				return err
			}
		}
	}
	return nil
}

func configShowCommand(c *configFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [COMMAND]",
		Short: "Show what holds for a command, and the line that says so",
		Long: `Show the options that the file sets for a command, crawl by default, as they
hold with the --profile, and where each stands.

Exit status: 0 done; 3 there is no file, or a mistake in it.`,
		Example:     "  weft config show --profile ci crawl",
		Args:        arguments(0, 2, "word", "a COMMAND"),
		Annotations: map[string]string{ignoresConfig: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			found := c.file == ""
			options, err := c.mustRead(cmd.Root())
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"crawl"}
			}
			of, rest, _ := cmd.Root().Find(args)
			if err := oneCommand(of, rest); err != nil {
				return err
			}
			out := newPrinter()
			for _, o := range effective(options, c.profile, of) {
				only := ""
				if flag := of.Flags().Lookup(o.Name); found && flag != nil && foundMaySet(flag, o) != nil {
					only = ", with --config only"
				}
				fmt.Fprintf(out, "%-40s # %s:%d%s\n", keyOf(o.Name)+" = "+shown(of, o), printable(c.path()), o.Line, only)
			}
			return standardOutput(out.Flush())
		},
	}
	define(cmd)
	return cmd
}

// shown is the value of an option in one line, without secrets.
func shown(cmd *cobra.Command, o config.Option) string {
	is := &option{arg: "URL"} // as urls are
	if flag := cmd.Flags().Lookup(o.Name); flag != nil {
		is = optionOf(flag)
	}
	if is.secret {
		return "(secret)"
	}
	var all []string
	for _, v := range o.Values {
		if o.Name == "header" { // it may be a credential
			v, _, _ = strings.Cut(v, ":")
			v += ": (hidden)"
		}
		v = is.public(v)
		all = append(all, fmt.Sprintf("%.200q", v))
	}
	if !o.List {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}
