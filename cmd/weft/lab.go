package main

import "github.com/spf13/cobra"

// labCommand points to the lab, which is a command of its own: the crawler links none of it.
func labCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "lab",
		Short:              "Moved: a program of Weft's source",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return usage("lab: a program of its own, in Weft's source: git clone https://github.com/weftcrawl/weft, then go -C weft/bench run ./weft-lab")
		},
	}
}
