//go:build linux

package lab

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// Processes runs the code of blocking.go in child processes. They share nothing, so nothing needs a
// lock, and one that crashes takes no other with it. But all input and output goes through pipes,
// and each child has the memory of a whole program. Each Fetch starts its own children; that is
// part of the measurement.
//
// A child is this program again: its main must call [Child] first.
var Processes = Way{
	Name:  "processes",
	About: "sleeps in the kernel for each page, each in a child process",
	Fetch: processesFetch,
}

// childName is the name (argv[0]) of a child, by which it knows its role; ps shows it.
const childName = "weft-lab-child"

// childReply is a child's response for a URL. An error crosses the pipe as its text.
type childReply struct {
	Page Page // without its error
	Err  string
}

func processesFetch(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	if os.Args[0] == childName { // or it would start children, and these theirs
		return nil, errors.New("lab: a child process starts children: expected a main that calls Child first")
	}
	work := make(chan int, len(urls))
	for i := range urls {
		work <- i
	}
	close(work)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make([]Page, len(urls))
	failed := make([]error, min(atOnce, len(urls)))
	var children sync.WaitGroup
	for n := range failed {
		children.Go(func() {
			// A failure after ctx is done is none: the child was killed.
			if err := withChild(ctx, urls, work, pages); err != nil && ctx.Err() == nil {
				failed[n] = err
				cancel() // the others
			}
		})
	}
	children.Wait()

	for i, u := range urls {
		if pages[i].URL == "" { // no child got to it
			pages[i] = Page{URL: u, Err: ctx.Err()}
		}
	}
	return pages, errors.Join(failed...)
}

// withChild starts a child and gives it one URL after the other.
func withChild(ctx context.Context, urls []string, work <-chan int, pages []Page) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, program) // fork and execve; when ctx is done, kill
	child.Args = []string{childName}
	child.Stderr = os.Stderr
	jobs, err := child.StdinPipe()
	if err != nil {
		return err
	}
	replies, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}

	encoder, decoder := gob.NewEncoder(jobs), gob.NewDecoder(replies)
	for i := range work {
		var reply childReply
		if err = encoder.Encode(urls[i]); err != nil {
			break
		}
		if err = decoder.Decode(&reply); err != nil {
			err = fmt.Errorf("lab: a child ended while it fetched %s: %w", urls[i], err)
			break
		}
		if reply.Err != "" {
			reply.Page.Err = errors.New(reply.Err)
		}
		pages[i] = reply.Page
	}
	_ = jobs.Close()                      // the child reads the end of its input, and ends
	return errors.Join(err, child.Wait()) // wait4(2): until then an ended child is a zombie
}

// Child fetches URLs and ends the process if this process is a child of [Processes]; otherwise it
// returns at once. A program that uses Processes calls it first in main, a test in TestMain.
func Child() {
	if os.Args[0] != childName {
		return
	}
	// The end of the input ends the child at once, also during a fetch: when the parent was
	// killed, nobody waits for the page and nobody is left to kill the child.
	ctx, cancel := context.WithCancel(context.Background())
	jobs := make(chan string)
	go func() {
		decoder := gob.NewDecoder(os.Stdin)
		for {
			var u string
			if decoder.Decode(&u) != nil {
				break
			}
			jobs <- u
		}
		cancel()
		close(jobs)
	}()
	encoder := gob.NewEncoder(os.Stdout)
	known := make(addresses)
	for u := range jobs {
		reply := childReply{Page: blockingGet(ctx, known, u)}
		if err := reply.Page.Err; err != nil {
			reply.Page.Err, reply.Err = nil, err.Error()
		}
		if err := encoder.Encode(reply); err != nil {
			fmt.Fprintln(os.Stderr, childName+":", err)
			os.Exit(1)
		}
	}
	os.Exit(0)
}
