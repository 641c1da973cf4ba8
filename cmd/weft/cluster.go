package main

import "github.com/spf13/cobra"

func clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cluster COMMAND",
		Short:   "Manage crawls on several machines",
		GroupID: sectionTools,
		Args:    oneCommand,
		RunE:    showHelp,

		SuggestionsMinimumDistance: 2,
		DisableFlagsInUseLine:      true,
	}
	cmd.AddCommand(listCommand(), removeCommand(), restoreCommand(), collectCommand(), serverCommand())
	return cmd
}

// serverCommand names the program that took its place.
func serverCommand() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return usage("cluster serve: a program of its own, expected " + runsServers)
		},
	}
}
