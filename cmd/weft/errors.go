package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 3
	exitLimit       = 4
	exitInterrupted = 5
)

// exit is an error that carries the code to end with.
type exit struct {
	code int
	err  error // nil: nothing is left to say
}

func (e *exit) Error() string { return fmt.Sprint(e.err) }

func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// misused is that a flag has a value that will not do.
func misused(name, value string, err error) error {
	return usage("--%s %.128q: %w", name, value, err)
}

// misread puts an error of the flags' parser as misused does.
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
		if isSecret(f) && invalid.GetValue() != "" {
			return usage("--%s: %w", f.Name, why)
		}
		return misused(f.Name, invalid.GetValue(), why)
	case errors.As(err, &missing):
		kind, _ := pflag.UnquoteUsage(missing.GetFlag())
		return usage("--%s: no value, expected --%[1]s %s", missing.GetFlag().Name, kind)
	case errors.As(err, &unknown):
		return usage("%w, expected one of those that %s --help tells", err, cmd.CommandPath())
	}
	return usage("%w", err)
}

// flagOf is the flags of weft crawl by the field of weft.Options that they set. (Seeds
// are its arguments.)
var flagOf = map[string]string{
	"SeedSeq": "input", "Scope": "scope", "Include": "include", "Exclude": "exclude", "Canon": "canon", "Depth": "depth",
	"MaxURLLength": "max-url-length", "MaxPathDepth": "max-path-depth", "MaxRepeats": "max-repeats", "MaxVariants": "max-variants",
	"Limit": "limit", "LimitPerHost": "limit-per-host", "MaxTime": "max-time",
	"Concurrency": "concurrency", "PerHost": "per-host", "PerDomain": "per-domain", "PerAddress": "per-address",
	"Delay": "delay", "DomainDelay": "domain-delay", "AddressDelay": "address-delay", "RateLimit": "rate-limit", "NoRobots": "no-robots", "Sitemaps": "sitemaps",
	"Timeout": "timeout", "DialTimeout": "connect-timeout", "TLSTimeout": "tls-timeout", "FirstByteTimeout": "first-byte-timeout",
	"IdleTimeout": "idle-timeout", "MinRate": "min-rate", "Retries": "retries", "MaxRedirects": "max-redirects", "MaxBody": "max-body",
	"UserAgent": "user-agent", "Header": "header", "Cookies": "cookies", "Auth": "auth", "Proxy": "proxy", "Insecure": "insecure", "RootCAs": "ca",
	"Resolve": "resolve", "DNS": "dns", "AllowPrivate": "allow-private",
	"Job": "job", "Update": "update", "Fresh": "fresh", "Amend": "amend", "MinFree": "min-free", "Memory": "memory", "KeepLinks": "links", "KeepBodies": "bodies", "Duplicates": "duplicates", "PruneDuplicates": "prune-duplicates", "Output": "output", "Format": "format",
}

// byFlag is an error of package weft in the words of the command: where that names an
// option, this names the flag. With update the job was named by --update, which --fresh does
// not go with.
func byFlag(err error, update bool) error {
	var o *weft.OptionError
	if !errors.As(err, &o) {
		return err
	}
	why, name := o.Err, flagOf[o.Option]
	over := "--fresh starts over, --job begins another"
	if update {
		over = "--job with --fresh starts over"
	}
	switch {
	case errors.Is(why, weft.ErrJobExists) && o.Option == "Update":
		why = fmt.Errorf("%w, expected the folder of one", why)
	case errors.Is(why, weft.ErrJobExists):
		why = fmt.Errorf("%w, expected a new folder: remove it, or name another", why)
	case errors.Is(why, weft.ErrPlan) && (o.Option == "Seeds" || o.Option == "SeedSeq" || o.Option == "Exclude"):
		why = fmt.Errorf("%w: --amend adds to that, %s", why, over)
	case errors.Is(why, weft.ErrJobUnusable), errors.Is(why, weft.ErrPlan):
		why = fmt.Errorf("%w: %s", why, over)
	}
	switch {
	case name == "" && o.Value != "":
		return fmt.Errorf("%s: %w", o.Value, why)
	case name == "":
		return why
	case o.Value == "":
		return fmt.Errorf("--%s: %w", name, why)
	}
	return fmt.Errorf("--%s %.128q: %w", name, o.Value, why)
}

// parts are the errors that were joined, in turn, to err.
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

// reason is an error of the file system without the path, for where that is told.
func reason(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// noArguments refuses them.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("%s: argument %.128q, expected none", cmd.CommandPath(), weft.WithoutSecrets(args[0]))
}

// oneCommand refuses the name of a command that cmd has not.
func oneCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, _, err := weft.ParseSeedCredential(args[0]); err == nil && !cmd.HasParent() {
		return usage("%.128q: no command, expected one such as %s crawl URL", weft.WithoutSecrets(args[0]), cmd.Name())
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf(": did you mean %s?", near[0])
	}
	return usage("%.128q: no such command, expected one of those that %s --help tells%s", weft.WithoutSecrets(args[0]), cmd.CommandPath(), hint)
}
