package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"
)

// Group is processes of this program that are asked what they have used. They answer by [Report].
// One goroutine uses it.
type Group struct {
	all []*Process
	out []*bufio.Scanner
}

// Used is the consumption of the processes of a group.
type Used struct {
	CPU      time.Duration // of all
	Resident int64         // bytes of the largest
}

// Report answers each line of standard input with what this process has used, until the input ends.
func Report() error {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		status, err := ReadStatus(os.Getpid())
		if err != nil {
			return err
		}
		fmt.Println(int64(CPU()), status.Resident)
	}
	return nil
}

// Start runs this program again, with an addition to its environment.
func (g *Group) Start(ctx context.Context, env string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := Start(ctx, Options{Env: []string{env}, Pipes: true, Stderr: os.Stderr}, self, args...)
	if err != nil {
		return err
	}
	g.all, g.out = append(g.all, p), append(g.out, bufio.NewScanner(p.Out))
	return nil
}

// Kill ends all processes.
func (g *Group) Kill() {
	for _, p := range g.all {
		p.Kill()
	}
}

// Used asks all processes.
func (g *Group) Used() (u Used, err error) {
	for i, p := range g.all {
		if _, err := fmt.Fprintln(p.In); err != nil {
			return u, err
		}
		if !g.out[i].Scan() {
			return u, fmt.Errorf("process %d has ended: %w", p.PID(), p.Wait())
		}
		var cpu, resident int64
		if _, err := fmt.Sscan(g.out[i].Text(), &cpu, &resident); err != nil {
			return u, fmt.Errorf("process %d says %q, expected two numbers", p.PID(), g.out[i].Text())
		}
		u.CPU += time.Duration(cpu)
		u.Resident = max(u.Resident, resident)
	}
	return u, nil
}
