package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
)

func collectCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "collect [flags] JOB...",
		Short: "Merge what the nodes of a crawl have on their disks",
		Long: `Merge the jobs of a crawl's nodes into one folder: records, links, items,
bodies and archives, each URL once. Of a page that two nodes have fetched, the
later record counts.

weft read, check, export, extract, mirror, replay and wacz take the folder. It
has results and no state: weft crawl and weft status do not take it. The jobs
stay as they are.` + jobExit,
		Example:           `  weft cluster collect -o docs one/docs.weft two/docs.weft`,
		Args:              arguments(1, math.MaxInt, "argument", "the folders of jobs"),
		ValidArgsFunction: completeJob,
		RunE:              func(_ *cobra.Command, jobs []string) error { return collectJobs(dir, jobs) },
	}
	define(cmd, group{"Output", []option{
		{name: "output", short: "o", arg: "DIR", Value: to(&dir, some("a folder")), help: "write to DIR, a new folder"},
	}})
	return cmd
}

// collectJobs merges jobs into a folder.
func collectJobs(dir string, jobs []string) error {
	if dir == "" {
		return usage("cluster collect: expected -o DIR, a new folder")
	}
	for _, job := range jobs {
		if err := mayBeJob(job); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, job := range jobs {
		if runs(ctx, job) {
			fmt.Fprintf(os.Stderr, "weft: %s: its node is running: what it fetches from now on is left out\n", printable(job))
		}
	}
	s, err := cluster.Collect(ctx, dir, jobs)
	switch {
	case errors.Is(err, cluster.ErrTwice):
		return usage("cluster collect: %w", err)
	case errors.Is(err, fs.ErrExist):
		return usage("cluster collect: -o %w", err)
	case ctx.Err() != nil:
		return &exit{exitInterrupted, nil}
	case err != nil:
		return &exit{exitError, fmt.Errorf("cluster collect: %w", err)}
	}
	text := fmt.Sprintf("%s: %s", dir, plural(s.Records, "record"))
	if s.Repeated > 0 {
		text += fmt.Sprintf(", %s fetched twice", plural(s.Repeated, "URL"))
	}
	if s.Archives > 0 {
		text += fmt.Sprintf("; %s of archives, %s", plural(s.Archives, "file"), volume(s.Bytes))
	}
	_, err = fmt.Println(printable(text))
	return standardOutput(err)
}

// runs reports whether a job is being crawled.
func runs(ctx context.Context, dir string) bool {
	job, err := weft.OpenJob(ctx, dir)
	if err != nil {
		return false // reading it says what is wrong with it
	}
	defer job.Close()
	return job.Running()
}
