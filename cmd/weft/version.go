package main

import (
	"fmt"
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
			revision := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = ", " + s.Value
					}
				}
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "weft %s (%s %s/%s%s)\n",
				weft.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, revision)
			return standardOutput(err)
		},
	}
}
