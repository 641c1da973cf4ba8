package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

// kindsCommand is a help topic.
func kindsCommand() *cobra.Command {
	var b strings.Builder
	b.WriteString(`The error kind of a URL whose fetch failed is in its record (error_kind), in the report
and in the lines of -v:

`)
	for _, k := range weft.Kinds() {
		fmt.Fprintf(&b, "  %-20s%s\n", k.Name, k.Meaning)
	}
	b.WriteString(`
A status such as 404 is a response, not an error.

The report counts the links that are not followed, by reason:

`)
	for _, r := range weft.Reasons() {
		fmt.Fprintf(&b, "  %-20s%s\n", r.Name, r.Meaning)
	}
	return &cobra.Command{
		Use:     "kinds",
		Short:   "Explain error kinds and why links are not followed",
		GroupID: sectionTools,
		Long:    strings.TrimSpace(b.String()),
		Args:    noArguments,
		RunE:    showHelp,
	}
}
