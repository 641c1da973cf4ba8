package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func main() {
	root := &cobra.Command{
		Use:           "weft",
		Short:         "Weft crawls the Web",
		Version:       weft.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          oneCommand,
		RunE:          showHelp,

		SuggestionsMinimumDistance: 2,
	}
	out := &watched{Writer: os.Stdout}
	root.SetOut(out)
	root.AddCommand(crawlCommand(), statusCommand(), hostsCommand(), urlsCommand(), whyCommand(), ctlCommand(), fetchCommand(), linksCommand(), urlCommand(), charsetCommand(), robotsCommand(), sitemapCommand(), demoCommand(), labCommand(), kindsCommand(), versionCommand())
	root.Flags().Bool("version", false, "print the version") // cobra's own would take -v
	root.SetVersionTemplate("weft {{.Version}}\n")
	root.SetFlagErrorFunc(misread)
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error {
		cmd, rest, _ := root.Find(args)
		return oneCommand(cmd, rest)
	}
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.Args, completion.RunE = oneCommand, showHelp
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
	os.Exit(e.code)
}
