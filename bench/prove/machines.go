package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"github.com/weftcrawl/weft/bench/proof"
	"github.com/weftcrawl/weft/internal/process"
)

// machines are the flags of a crawl by several nodes.
type machines struct {
	number         int
	blows, scaling bool
	seed           uint64
}

func machinesOf(f *flag.FlagSet) *machines {
	m := &machines{}
	f.IntVar(&m.number, "machines", 0, "crawl with that many nodes and as many NATS servers, in network namespaces; 0: do not")
	f.BoolVar(&m.blows, "blows", true, "with -machines: kill nodes and cut them off")
	f.BoolVar(&m.scaling, "scaling", true, "with -machines: compare throughput with one node, too")
	f.Uint64Var(&m.seed, "seed", 1, "with -machines: when nodes are killed or cut off, and which")
	return m
}

// alone runs this program in a network of its own, if it needs one and is not there yet.
func (m *machines) alone(ctx context.Context) (ran bool, err error) {
	if m.number == 0 {
		return false, nil
	}
	return proof.AtHub(ctx)
}

// crawl crawls with several nodes, whose server it builds in a folder, and compares their
// throughput with that of one.
func (m *machines) crawl(ctx context.Context, t proof.Task, tmp string, w io.Writer, line string) error {
	server, err := process.Build(ctx, tmp, "weft-nats")
	if err != nil {
		return err
	}
	task := proof.NodesTask{
		Command: t.Command, Server: server, Dir: t.Dir, Web: t.Web, Delay: t.Delay, Patience: t.Patience, Concurrency: t.Concurrency, Variants: t.Variants,
		Nodes: m.number, Servers: m.number, Spaces: true, Seed: m.seed, Flags: t.Flags, Logf: t.Logf,
	}
	if m.number == 1 {
		task.Servers = 0
	}
	if m.blows {
		task.Blows = proof.Blows()
	}
	r, err := proof.CrawlByNodes(ctx, task)
	if err != nil {
		return err
	}
	wrong := r.Failures()
	var s *proof.Scaling
	if m.scaling {
		compared, err := proof.Scale(ctx, task, 20_000)
		if err != nil {
			return err
		}
		s, wrong = &compared, append(wrong, compared.Failures()...)
	}
	return errors.Join(proof.WriteNodes(w, line, r, s), failed(wrong))
}
