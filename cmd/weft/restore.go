package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/cluster"
)

func restoreCommand() *cobra.Command {
	var (
		f     clusterFlags
		force bool
	)
	cmd := &cobra.Command{
		Use:   "restore --cluster URL --name NAME JOB...",
		Short: "Restore a crawl that the servers have lost",
		Long: `Restore a crawl from the folders of its nodes, after the servers have lost a
stream of it, or all of it.

1. Wait until no node runs.
2. Run this command with the folders of all nodes, or with copies of them.
   Start no node before that.
3. Start the nodes again with weft crawl --cluster, with these folders or with
   new ones. They do not fetch again what was fetched.

It does not matter how the nodes have ended. If a folder is missing, nothing is
written. Orders and limits are lost with the bucket: give both again.

Exit status: 0 done; 1 a folder may be missing, nothing is lost, nodes run, or
no server answers; 3 usage error or no job.`,
		Example:           `  weft cluster restore --cluster nats://10.0.0.1 --name a 1.weft 2.weft`,
		Args:              arguments(1, math.MaxInt, "argument", "the folders of all nodes"),
		ValidArgsFunction: completeJob,
		RunE: func(_ *cobra.Command, jobs []string) error {
			if !f.any() {
				return usage("cluster restore: expected --cluster, such as nats://HOST:4222, and --name")
			}
			return restore(&f, jobs, force)
		},

		DisableFlagsInUseLine: true,
	}
	define(cmd,
		group{"Restore", []option{{name: "force", Value: on(&force), help: "restore these folders, even if one may be missing"}}},
		group{"Several machines", append([]option{f.servers("the NATS servers"), f.name("the name of the crawl")}, f.security()...)})
	return cmd
}

// restore restores a crawl, and says what is missing.
func restore(f *clusterFlags, jobs []string, force bool) error {
	for _, job := range jobs {
		if err := mayBeJob(job); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f.ask(func(_ context.Context, c *cluster.Client) error {
		r, err := c.Restore(ctx, jobs, force)
		switch {
		case ctx.Err() != nil:
			return &exit{exitInterrupted, nil}
		case errors.Is(err, cluster.ErrIncomplete):
			return fmt.Errorf("%w, or --force if there are no others", err)
		case err != nil:
			return err
		}
		out := newPrinter()
		fmt.Fprintf(out, "%s: restored %s\n", f.Name, strings.Join(r.Streams, ", "))
		for _, node := range r.Missing {
			fmt.Fprintf(out, "without the state of %s: its folder was not given\n", printable(node))
		}
		if r.Without > 0 {
			fmt.Fprintf(out, "without %s, which no folder has\n", plural(r.Without, "partition"))
		}
		return standardOutput(out.Flush())
	})
}
