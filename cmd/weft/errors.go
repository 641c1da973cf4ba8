package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1
	exitBroken      = 2
	exitUsage       = 3
	exitLimit       = 4
	exitInterrupted = 5
	exitPipe        = 128 + int(syscall.SIGPIPE) // as a shell reports a process that SIGPIPE ended
)

// logsIn is the advice for status 401.
const logsIn = "--auth HOST=USER:PASSWORD logs in"

// exit is an error with the exit code of the process.
type exit struct {
	code int
	err  error // nil: nothing is printed
}

func (e *exit) Error() string { return fmt.Sprint(e.err) }

func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// misused reports a flag's invalid value.
func misused(name, value string, err error) error {
	return usage("--%s %.128q: %w", name, value, err)
}

// misread rewrites an error of the flag parser as misused does.
func misread(cmd *cobra.Command, err error) error {
	var (
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
		unknown *pflag.NotExistError
	)
	switch {
	case errors.As(err, &invalid):
		f, why := invalid.GetFlag(), invalid.Unwrap()
		if f.Value.Type() == "bool" {
			why = errors.New("expected true, false or no value")
		}
		if optionOf(f).secret && invalid.GetValue() != "" {
			return usage("--%s: %w", f.Name, why)
		}
		if long := cmd.Flags().Lookup(f.Shorthand + invalid.GetValue()); long != nil && f.Shorthand != "" {
			why = fmt.Errorf("%w: did you mean --%s?", why, long.Name)
		}
		return misused(f.Name, optionOf(f).public(invalid.GetValue()), why)
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return usage("--%s: no value, expected --%[1]s %s", f.Name, optionOf(f).arg)
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	}
	return usage("%w", err)
}

// unknownFlag reports a flag that cmd does not have, with one that may be meant.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name := err.GetSpecifiedName()
	flag := "--" + name
	if group := err.GetSpecifiedShortnames(); group != "" {
		name, flag = group, fmt.Sprintf("'%.1s' in -%s", group, group)
	}
	if says := instead(cmd, name); says != "" {
		return usage("%s: unknown flag: %s", flag, says)
	}
	near := foreign[name]
	if near == "" || cmd.Flags().Lookup(near) == nil {
		near = nearFlag(cmd.Flags(), name)
	}
	if near != "" {
		return usage("%s: unknown flag: did you mean --%s?", flag, near)
	}
	return usage("%s: unknown flag, expected one that %s lists", flag, fullHelp(cmd))
}

// amendableOptions are those that --amend adds to.
var amendableOptions = []string{"Seeds", "SeedSeq", "Exclude"}

// byFlag returns an error of package weft in the words of the command: with the flag in place
// of the option. A flag that names the job is named only if it was typed.
func byFlag(err error, n naming) error {
	var o *weft.OptionError
	if !errors.As(err, &o) {
		return err
	}
	var plan *weft.PlanError
	if errors.As(o.Err, &plan) {
		return otherCrawl(plan, n)
	}
	why, name := o.Err, flagOf()[o.Option]
	over := "use --fresh to start over, or --job " + n.another() + " for another job"
	if n.isAgain() {
		over = "use --job with --fresh to start over"
	}
	switch {
	case errors.Is(why, weft.ErrJobExists) && (o.Option == "Update" || o.Option == "RetryFailed"):
		why = fmt.Errorf("%w, expected the folder of a job", why)
	case errors.Is(why, weft.ErrJobExists):
		why = fmt.Errorf("%w, expected a new folder: name another with --job", why)
	case errors.Is(why, weft.ErrPlan): // of a list of seeds
		return fmt.Errorf("%s: the list of seeds: %w: use --amend to add to it, %s",
			n.dir, why, strings.TrimPrefix(over, "use "))
	case errors.Is(why, weft.ErrJobUnusable):
		why = fmt.Errorf("%w: %s", why, over)
	}
	switch {
	case o.Option == "Job" && o.Value == n.dir:
		return fmt.Errorf("%s: %w", n.given(), why)
	case name == "" && o.Value != "":
		return fmt.Errorf("%s: %w", o.Value, why)
	case name == "":
		return why
	case o.Value == "":
		return fmt.Errorf("--%s: %w", name, why)
	}
	return fmt.Errorf("--%s %.128q: %w", name, o.Value, why)
}

// parts returns the errors that err joins, at any depth.
func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// reason returns an error of the file system without its path, for messages that name it.
func reason(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// standardOutput adds to an error that it concerns standard output. A reader that has left, such
// as head, is no mistake: nothing is printed.
func standardOutput(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return &exit{exitPipe, nil}
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("standard output: %w", reason(err))}
	}
	return nil
}

// unwritten adds to an error of writing where that was: the file of --output, or standard output.
func unwritten(output string, err error) error {
	if err == nil || output == "" || output == "-" || errors.Is(err, syscall.EPIPE) {
		return standardOutput(err)
	}
	return &exit{exitError, fmt.Errorf("--output %.128q: %w", output, reason(err))}
}

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("%s: argument %.128q, expected none", cmd.CommandPath(), weft.WithoutSecrets(args[0]))
}

// arguments accepts from least to most of them; expected names them for the error.
func arguments(least, most int, noun, expected string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= most {
			return nil
		}
		return usage("%s: %s given, expected %s", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), plural(len(args), noun), expected)
	}
}

// oneCommand refuses the name of a command that cmd does not have.
func oneCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf(": did you mean %s?", near[0])
	} else if strings.ContainsAny(args[0], ".:/") && !cmd.HasParent() { // no command has these
		return usage("%.128q: a URL, expected a command, as in %s crawl URL",
			weft.WithoutSecrets(args[0]), cmd.Name())
	}
	return usage("%.128q: unknown command, expected one that %s --help lists%s",
		weft.WithoutSecrets(args[0]), cmd.CommandPath(), hint)
}

// privateHint helps with an address that is not public.
const privateHint = "--allow-private lets pages lead there"

// advised adds to the text of an error what may be done about it.
func advised(text string) string {
	if strings.Contains(text, "blocked-address: ") {
		return text + ": " + privateHint
	}
	_, fault, found := strings.Cut(text, httpclient.ErrCertificate.Error())
	if !found {
		return text
	}
	text += ": -k accepts any certificate"
	for _, of := range []string{"self-signed", "not trusted", "unknown"} {
		// The name and the time are no matter of trust.
		if strings.Contains(fault, of) {
			return text + ", --ca FILE trusts other authorities"
		}
	}
	return text
}
