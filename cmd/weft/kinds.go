package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

// kindsCommand is a topic of the help.
func kindsCommand() *cobra.Command {
	var b strings.Builder
	b.WriteString(`A URL that could not be fetched as it should has an error_kind in its record, in
the table of the report and in the lines of -v:

`)
	for _, k := range weft.Kinds() {
		fmt.Fprintf(&b, "  %-20s%s\n", k.Name, k.Meaning)
	}
	b.WriteString(`
A status such as 404 is an answer, and no error.

A link that is not followed is counted by its reason, in the table of the report:

`)
	for _, r := range weft.Reasons() {
		fmt.Fprintf(&b, "  %-20s%s\n", r.Name, r.Meaning)
	}
	return &cobra.Command{Use: "kinds", Short: "What the error kinds of a record mean, and why links are not followed", Long: strings.TrimSpace(b.String())}
}
