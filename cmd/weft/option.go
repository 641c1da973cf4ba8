package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

// option describes a flag, and is its value. Everything the command knows about a flag
// is here, once: parsing, help, manual, completion and error messages read it.
type option struct {
	pflag.Value
	name  string
	short string // one letter, or empty
	arg   string // the placeholder of the value, as in "--depth N"; empty for a switch
	// bare is the value of the flag alone: then its argument is optional, and one of words.
	bare     string
	def      string   // the default, for the help
	help     string   // one line
	more     string   // further sentences for --help-all and the manual
	words    []string // the values there are, for completion
	field    string   // the field of weft.Options that it sets
	advanced bool     // listed by --help-all only
	hidden   bool     // an older way, listed nowhere
	secret   bool     // messages never repeat its value
	caller   bool     // a request to weft serve may set it
	group    string   // set by define
}

// optionOf returns the option behind a flag. Those that cobra defines have none.
func optionOf(f *pflag.Flag) *option {
	if o, ok := f.Value.(*option); ok {
		return o
	}
	return &option{Value: f.Value, name: f.Name, short: f.Shorthand, help: f.Usage}
}

// public is a value of the option without the logins of URLs, for messages.
func (o *option) public(value string) string {
	switch o.arg {
	case "URL":
		return weft.WithoutSecrets(value)
	case "URL,...":
		all := strings.Split(value, ",")
		for i := range all {
			all[i] = weft.WithoutSecrets(all[i])
		}
		return strings.Join(all, ",")
	}
	return value
}

// group is the options of one concern.
type group struct {
	title   string
	options []option
}

// define gives a command its flags. The help lists them by group, in this order.
func define(cmd *cobra.Command, all ...group) {
	f := cmd.Flags()
	f.SortFlags = false
	for _, g := range all {
		for _, o := range g.options {
			o.group = g.title
			flag := f.VarPF(&o, o.name, o.short, o.help)
			flag.Hidden = o.hidden
			if flag.NoOptDefVal = o.bare; o.arg == "" {
				flag.NoOptDefVal = "true"
			}
			completeFlag(cmd, &o)
		}
	}
	defineHelp(cmd)
}

// joined returns the arguments of a command line with optional values behind their flags: --assets
// any becomes --assets=any, which is how the parser of flags reads one.
func joined(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return args
	}
	var all []string
	for i, arg := range args {
		if arg == "--" {
			return append(all, args[i:]...)
		}
		if last := len(all) - 1; last >= 0 {
			name, is := strings.CutPrefix(args[i-1], "--")
			flag := cmd.Flags().Lookup(name)
			if is && flag != nil && optionOf(flag).bare != "" && slices.Contains(optionOf(flag).words, arg) {
				all[last] += "=" + arg
				continue
			}
		}
		all = append(all, arg)
	}
	return all
}

// value is a flag's value that is checked as it is read, so that an error names the flag
// and says what was expected.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
	text  string // as given
}

// to is a value that parse reads.
func to[T any](p *T, parse func(string) (T, error)) pflag.Value {
	return &value[T]{to: p, parse: parse}
}

func (v *value[T]) String() string { return v.text }
func (v *value[T]) Type() string   { return "string" }

func (v *value[T]) Set(s string) error {
	parsed, err := v.parse(s)
	if err == nil {
		*v.to, v.text = parsed, s
	}
	return err
}

// values is the value of a flag that may be repeated.
type values[T any] struct {
	to    *[]T
	parse func(string) (T, error)
}

// appended is a value that parse reads and that the flag's other values precede.
func appended[T any](p *[]T, parse func(string) (T, error)) pflag.Value {
	return &values[T]{p, parse}
}

func (v *values[T]) String() string { return "" }
func (v *values[T]) Type() string   { return "stringArray" } // the completion offers it again

func (v *values[T]) Set(s string) error {
	parsed, err := v.parse(s)
	if err == nil {
		*v.to = append(*v.to, parsed)
	}
	return err
}

// toggle is the value of a switch.
type toggle bool

// on is a switch.
func on(p *bool) pflag.Value { return (*toggle)(p) }

func (t *toggle) String() string { return strconv.FormatBool(bool(*t)) }
func (t *toggle) Type() string   { return "bool" }

func (t *toggle) Set(s string) error {
	b, err := strconv.ParseBool(s)
	*t = toggle(b)
	return err
}
