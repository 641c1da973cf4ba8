package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
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

func main() {
	root := &cobra.Command{
		Use:           "weft",
		Short:         "Weft crawls the Web",
		Version:       weft.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(crawlCommand(), fetchCommand(), linksCommand(), robotsCommand(), demoCommand(), versionCommand())
	root.Flags().Bool("version", false, "print the version") // cobra's own would take -v
	root.SetVersionTemplate("weft {{.Version}}\n")
	err := root.Execute()
	var e *exit
	switch {
	case err == nil:
		return
	case !errors.As(err, &e): // of cobra: a flag or command that does not exist
		e = &exit{exitUsage, err}
	}
	if e.err != nil {
		fmt.Fprintf(os.Stderr, "weft: %s\n", printable(e.err.Error()))
	}
	os.Exit(e.code)
}
