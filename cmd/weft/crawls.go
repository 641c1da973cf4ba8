package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/cluster"
)

func listCommand() *cobra.Command {
	var f clusterFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list --cluster URL",
		Short: "List the crawls on the servers",
		Long: `List the crawls that NATS servers have: running, waiting for a node, over, or
broken, which is what is left of half a crawl. Shown are the nodes that are
there, pages, when the crawl has begun, and what each copy takes on the servers.

Exit status: 0 done, 1 no server answers, 3 usage error.`,
		Example:           `  weft cluster list --cluster nats://10.0.0.1`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(*cobra.Command, []string) error {
			if len(f.Servers) == 0 {
				return usage("cluster list: expected --cluster, such as nats://HOST:4222")
			}
			all, err := cluster.Crawls(context.Background(), f.connection())
			if err != nil {
				return &exit{exitError, err}
			}
			if !asJSON {
				out := newPrinter()
				crawlTable.header(out)
				if err := standardOutput(out.Flush()); err != nil {
					return err
				}
			}
			return printAll(func(yield func(cluster.Listed, error) bool) {
				for _, c := range all {
					if !yield(c, nil) {
						return
					}
				}
			}, 0, asJSON, writeCrawl)
		},

		DisableFlagsInUseLine: true,
	}
	define(cmd, group{"Several machines", append([]option{f.servers("the NATS servers")}, f.security()...)},
		group{"Output", []option{jsonOption(&asJSON, "print a JSON object per line")}})
	return cmd
}

// crawlTable has the name last: its width is unknown.
var crawlTable = table{{"STATE", -8}, {"NODES", 6}, {"PAGES", 11}, {"BEGUN", -19}, {"SIZE", 9}, {"NAME", 0}}

func writeCrawl(w io.Writer, c cluster.Listed) {
	name := c.Name
	if c.Why != "" {
		name += "  broken: " + c.Why
	}
	crawlTable.row(w, string(c.State), count(c.Nodes), count(c.Pages), moment(c.Begun), volume(int64(c.Bytes)), name)
}

func removeCommand() *cobra.Command {
	var f clusterFlags
	var force bool
	cmd := &cobra.Command{
		Use:   "remove --cluster URL --name NAME",
		Short: "Remove a crawl from the servers",
		Long: `Remove all that NATS servers have of a crawl. Its name may then be used again.
The folders of its nodes stay as they are: their results can be read and
collected, but the crawl cannot go on.

A crawl with nodes is not removed: Ctrl-C has a node leave, and one that was
killed counts for 10 seconds.

Exit status: 0 done; 1 no such crawl, or nodes are there; 3 usage error.`,
		Example:           `  weft cluster remove --cluster nats://10.0.0.1 --name large`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(*cobra.Command, []string) error {
			if !f.any() {
				return usage("cluster remove: expected --cluster, such as nats://HOST:4222, and --name")
			}
			return f.ask(func(ctx context.Context, c *cluster.Client) error {
				err := c.Remove(ctx, force)
				if errors.Is(err, cluster.ErrInUse) {
					return fmt.Errorf("%w, or --force", err)
				}
				return err
			})
		},

		DisableFlagsInUseLine: true,
	}
	define(cmd, group{"Several machines", append([]option{f.servers("the NATS servers"), f.name("the name of the crawl")}, f.security()...)},
		group{"Removal", []option{{name: "force", Value: on(&force), help: "remove a crawl with nodes, too: they end"}}})
	return cmd
}
