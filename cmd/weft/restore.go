package main

import (
	"context"
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
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "restore --cluster URL --name NAME JOB...",
		Short: "Restore a crawl that the servers have lost",
		Long: `Make what the servers have lost of a crawl anew, out of the folders of all its
nodes: a stream that was deleted, or all of it. Then weft crawl --cluster
continues the crawl, with these folders or with new ones.

The nodes must have ended, and one that was killed counts for 10 seconds. A
folder may be a copy. Links that were on their way between nodes, in a stream
that is gone, are lost, and orders and limits with the bucket.

Exit status: 0 done; 1 nothing is lost, nodes are there, or no server answers;
3 usage error or no job.`,
		Example:           `  weft cluster restore --cluster nats://10.0.0.1 --name a 1.weft 2.weft`,
		Args:              arguments(1, math.MaxInt, "argument", "the folders of all nodes"),
		ValidArgsFunction: completeJob,
		RunE: func(_ *cobra.Command, jobs []string) error {
			if !f.any() {
				return usage("cluster restore: expected --cluster, such as nats://HOST:4222, and --name")
			}
			return restore(&f, jobs)
		},

		DisableFlagsInUseLine: true,
	}
	define(cmd, group{"Several machines", append([]option{f.servers("the NATS servers"), f.name("the name of the crawl")}, f.security()...)})
	return cmd
}

// restore has the servers get a crawl back.
func restore(f *clusterFlags, jobs []string) error {
	for _, job := range jobs {
		if err := mayBeJob(job); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f.ask(func(_ context.Context, c *cluster.Client) error {
		r, err := c.Restore(ctx, jobs)
		switch {
		case ctx.Err() != nil:
			return &exit{exitInterrupted, nil}
		case err != nil:
			return err
		}
		out := newPrinter()
		fmt.Fprintf(out, "%s: restored %s\n", f.Name, strings.Join(r.Streams, ", "))
		for _, node := range r.Missing {
			fmt.Fprintf(out, "without what %s had last\n", printable(node))
		}
		return standardOutput(out.Flush())
	})
}
