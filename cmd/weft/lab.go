package main

import "github.com/spf13/cobra"

// labCommand points to the lab, which is a command of its own: the crawler links none of it.
func labCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "lab",
		Short:              "Moved: go -C bench run ./weft-lab",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return usage("lab: expected go -C bench run ./weft-lab in Weft's source: the lab is a command of its own")
		},
	}
}
