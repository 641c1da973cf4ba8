package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/config"
)

// configFlags choose the file with options, for all commands.
type configFlags struct {
	file, profile string
	none          bool
}

// configFile is read if there is one and no other is named.
const configFile = "weft.toml"

// mostConfig bounds the file, in bytes: about 100,000 URLs. --input takes more.
const mostConfig = 4 << 20

// define adds the flags to the root of all commands.
func (c *configFlags) define(root *cobra.Command) {
	f := root.PersistentFlags()
	for _, o := range []option{
		{name: "config", arg: "FILE", Value: to(&c.file, some("a FILE")), def: configFile,
			help: "read options from FILE"},
		{name: "no-config", Value: on(&c.none), help: "read no such file"},
		{name: "profile", arg: "NAME", Value: to(&c.profile, some("a NAME")),
			help: "use the profile NAME of the file, too"},
	} {
		o.group = "Options from a file (weft config)"
		flag := f.VarPF(&o, o.name, "", o.help)
		if o.arg == "" {
			flag.NoOptDefVal = "true"
		}
	}
}

// adopt lets all commands take their options from the file before they run.
func (c *configFlags) adopt(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		c.adopt(sub)
	}
	run := cmd.RunE
	if run == nil || !cmd.HasParent() || !cmd.HasLocalFlags() || cmd.Annotations[ignoresConfig] != "" {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := c.apply(cmd, args)
		if err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// Annotations of commands.
const (
	takesURLs     = "urls"   // its arguments are URLs that the file may hold, too
	ignoresConfig = "config" // it reads the file itself
)

// urlsKey is the name of the arguments of a command in the file.
const urlsKey = "urls"

// apply sets the flags of a command that were not typed as the file says. It returns the arguments:
// those of the file if none was typed.
func (c *configFlags) apply(cmd *cobra.Command, args []string) ([]string, error) {
	options, err := c.read(cmd.Root())
	if err != nil {
		return nil, err
	}
	quiet := typed(cmd, "quiet")
	browser := typed(cmd, "browser")
	if err := c.logIn(cmd, options); err != nil {
		return nil, err
	}
	var names []string // of what the file sets
	if flag := cmd.Flags().Lookup("extract"); flag != nil && !flag.Changed {
		all, err := rulesOf(options, c.profile)
		if err != nil {
			return nil, err // of a file that was checked
		}
		*optionOf(flag).Value.(*rules).to = all
		if len(all) > 0 {
			names = append(names, itemsTable)
		}
	}
	for _, o := range effective(options, c.profile, cmd) {
		if o.Name == urlsKey {
			if len(args) == 0 && !typed(cmd, "input", "update", "retry-failed") {
				if err := foundMayName(o); c.file == "" && err != nil {
					return nil, c.misused(o.Line, err)
				}
				args = o.Values
				names = append(names, o.Name)
			}
			continue
		}
		flag := cmd.Flags().Lookup(o.Name)
		if flag.Changed {
			continue
		}
		if err := c.set(flag, o); err != nil {
			return nil, c.misused(o.Line, err)
		}
		if !slices.Contains(names, o.Name) {
			names = append(names, o.Name)
		}
	}
	if browser && len(args) > 0 && isIdle(cmd, names) {
		return nil, usage("--browser: expected together with --render")
	}
	if c.file == "" && len(names) > 0 && !quiet {
		fmt.Fprintf(os.Stderr, "weft: options from %s: %s\n", configFile, strings.Join(names, ", "))
	}
	return args, nil
}

// isIdle reports whether a command that renders pages on request has no such request, typed or
// among the names that the file sets. A job may have one.
func isIdle(cmd *cobra.Command, names []string) bool {
	renders := []string{"render", "wait", "scroll", "click", "screenshot", "pdf", "update", "retry-failed"}
	return cmd.Flags().Lookup("render") != nil && !typed(cmd, renders...) &&
		!slices.ContainsFunc(names, func(name string) bool { return slices.Contains(renders, name) })
}

// set sets a flag as the file says, if it may.
func (c *configFlags) set(flag *pflag.Flag, o config.Option) error {
	if c.file == "" {
		if err := foundMaySet(flag, o); err != nil {
			return err
		}
	}
	return set(flag, o)
}

// typed reports whether the command line has one of some flags.
func typed(cmd *cobra.Command, names ...string) bool {
	return slices.ContainsFunc(names, cmd.Flags().Changed)
}

// read returns the options of the file; none if there is no file.
func (c *configFlags) read(root *cobra.Command) ([]config.Option, error) {
	switch {
	case c.none && (c.file != "" || c.profile != ""):
		return nil, usage("--no-config beside --config or --profile, expected one of them")
	case c.none:
		return nil, nil
	}
	info, err := os.Stat(c.path())
	if errors.Is(err, fs.ErrNotExist) && c.file == "" && c.profile == "" {
		return nil, nil
	}
	if err == nil && c.file == "" && !info.Mode().IsRegular() {
		// A pipe would make it wait.
		return nil, usage("%s: no regular file, expected a file of options", configFile)
	}
	text, err := readAtMost(c.path(), mostConfig)
	if err != nil {
		return nil, usage("%.128q: %w, expected a file of options: see weft config --help", c.path(), reason(err))
	}
	options, err := config.Parse(text)
	var e *config.Error
	if errors.As(err, &e) {
		return nil, c.misused(e.Line, e.Err)
	}
	for _, profile := range slices.Compact(append(profilesOf(options), "")) {
		if _, err := rulesOf(options, profile); errors.As(err, &e) {
			return nil, c.misused(e.Line, e.Err)
		}
	}
	if line, err := checkSchedule(options); err != nil {
		return nil, c.misused(line, fmt.Errorf("[%s]: %w", scheduleTable, err))
	}
	for i := range options {
		if ofItems(options[i]) || ofSchedule(options[i]) {
			continue
		}
		o, err := asField(options[i])
		if err != nil {
			return nil, c.misused(o.Line, err)
		}
		options[i] = o
		if err := known(root, o); err != nil {
			return nil, c.misused(o.Line, err)
		}
	}
	return options, c.hasProfile(options)
}

func (c *configFlags) path() string {
	if c.file == "" {
		return configFile
	}
	return c.file
}

// misused reports a mistake in the file.
func (c *configFlags) misused(line int, err error) error {
	return usage("%s: line %d: %w", c.path(), line, err)
}

// hasProfile checks that the profile that was asked for is there.
func (c *configFlags) hasProfile(options []config.Option) error {
	names := profilesOf(options)
	switch {
	case c.profile == "" || slices.Contains(names, c.profile):
		return nil
	case len(names) == 0:
		return usage("--profile %.128q: %s has no profiles", c.profile, c.path())
	}
	return usage("--profile %.128q: expected one that %s has: %s", c.profile, c.path(), strings.Join(names, ", "))
}

// profilesOf returns the names of the profiles.
func profilesOf(options []config.Option) (names []string) {
	for _, o := range options {
		if o.Profile != "" && !slices.Contains(names, o.Profile) {
			names = append(names, o.Profile)
		}
	}
	return names
}

// readAtMost returns a file of at most n bytes.
func readAtMost(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, n+1))
	if err == nil && int64(len(text)) > n {
		err = fmt.Errorf("longer than %d MiB", n>>20)
	}
	return text, err
}

// effective returns the options that hold for a command, each once, in the order of the file: those
// for the command go before those for all, and those of the profile before the others.
func effective(options []config.Option, profile string, cmd *cobra.Command) []config.Option {
	weight := func(o config.Option) int {
		w := 0
		switch o.Profile {
		case "":
		case profile:
			w += 2
		default:
			return -1
		}
		switch o.Command {
		case "":
		case wordsOf(cmd):
			w++
		default:
			return -1
		}
		if !takes(cmd, o.Name) {
			return -1
		}
		return w
	}
	best := make(map[string]int)
	for _, o := range options {
		best[o.Name] = max(best[o.Name], weight(o))
	}
	return slices.DeleteFunc(slices.Clone(options), func(o config.Option) bool { return weight(o) < best[o.Name] })
}

// wordsOf is the path of a command without the name of the program.
func wordsOf(cmd *cobra.Command) string {
	_, words, _ := strings.Cut(cmd.CommandPath(), " ")
	return words
}

// takes reports whether a command has an option that a file may set.
func takes(cmd *cobra.Command, name string) bool {
	if name == urlsKey {
		return cmd.Annotations[takesURLs] != ""
	}
	flag := cmd.LocalNonPersistentFlags().Lookup(name)
	return flag != nil && !strings.HasPrefix(name, "help")
}

// known checks that there is such a command and option.
func known(root *cobra.Command, o config.Option) error {
	if o.Command == "" {
		names := pflag.NewFlagSet("", pflag.ContinueOnError)
		for cmd := range below(root) {
			if takes(cmd, o.Name) {
				return nil
			}
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				if names.Lookup(f.Name) == nil {
					names.AddFlag(&pflag.Flag{Name: f.Name, Value: f.Value})
				}
			})
		}
		return unknownOption(names, o.Name, "that a command has")
	}
	cmd, rest, _ := root.Find(strings.Fields(o.Command))
	if len(rest) > 0 || cmd == root {
		return fmt.Errorf("[%s]: %w", strings.ReplaceAll(o.Command, " ", "."), oneCommand(cmd, append(rest, "")))
	}
	if takes(cmd, o.Name) {
		return nil
	}
	return unknownOption(cmd.LocalNonPersistentFlags(), o.Name, "that "+fullHelp(cmd)+" lists")
}

// below yields all commands with options of their own.
func below(cmd *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		for _, sub := range cmd.Commands() {
			if sub.Runnable() && !yield(sub) {
				return
			}
			for further := range below(sub) {
				if !yield(further) {
					return
				}
			}
		}
	}
}

func unknownOption(flags *pflag.FlagSet, name, expected string) error {
	if near := nearFlag(flags, name); near != "" {
		return fmt.Errorf("%.128q: unknown option: did you mean %s?", name, near)
	}
	return fmt.Errorf("%.128q: unknown option, expected one %s", name, expected)
}

// set gives a flag its values from the file.
func set(flag *pflag.Flag, o config.Option) error {
	if o.List && flag.Value.Type() != "stringArray" {
		return fmt.Errorf("%s: a list, expected one value", o.Name)
	}
	for _, v := range o.Values {
		if bare := optionOf(flag).bare; bare != "" && v == "true" {
			v = bare // as the flag without a value
		}
		err := flag.Value.Set(v)
		switch {
		case err != nil && flag.Value.Type() == "bool":
			return fmt.Errorf("%s = %.128q: expected true or false", o.Name, v)
		case err != nil && optionOf(flag).secret:
			return fmt.Errorf("%s: %w", o.Name, err)
		case err != nil:
			return fmt.Errorf("%s = %.128q: %w", o.Name, optionOf(flag).public(v), err)
		}
	}
	return nil
}

// loginOf returns the file of the session that the recipe of a file makes, and the line that says
// so; "": there is no recipe.
func (c *configFlags) loginOf(root *cobra.Command, options []config.Option) (file string, line int, err error) {
	cmd, _, _ := root.Find([]string{"login"})
	for _, o := range effective(options, c.profile, cmd) {
		switch {
		case o.Command == "":
		case o.Name == "session":
			return o.Values[0], o.Line, nil
		case o.Name == "url":
			line = o.Line
			file, err = sessionFile(o.Values[0])
		}
	}
	return file, line, err
}

// logIn gives a command that crawls the session of the recipe in the file, unless another is named.
func (c *configFlags) logIn(cmd *cobra.Command, options []config.Option) error {
	flag := cmd.Flags().Lookup("session")
	if flag == nil || flag.Changed || cmd.Annotations[takesURLs] == "" || slices.ContainsFunc(effective(options, c.profile, cmd), func(o config.Option) bool { return o.Name == flag.Name }) {
		return nil
	}
	file, line, err := c.loginOf(cmd.Root(), options)
	switch {
	case err != nil:
		return c.misused(line, err)
	case file == "":
		return nil
	case c.file == "":
		return c.misused(line, fmt.Errorf("[login]: expected --config %s: a file that is only found may not set it", configFile))
	}
	if err := flag.Value.Set(file); err != nil {
		return &exit{exitError, fmt.Errorf("%.128q: %w: weft login --config %s makes one", file, err, cmp.Or(c.file, configFile))}
	}
	return nil
}
