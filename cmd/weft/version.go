package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version and build information",
		GroupID: sectionTools,
		Args:    noArguments,

		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), buildLine())
			return standardOutput(err)
		},
	}
}

// buildLine returns the line that tells a build from others. It has the commit, if the build was in
// a checkout.
func buildLine() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = ", commit " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				commit += " with changes"
			}
		}
	}
	return fmt.Sprintf("weft %s (%s %s/%s%s)\n", weft.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, commit)
}
