package cluster

import "fmt"

// aside leaves out what no node has written. Whoever has a login to the servers, or reaches servers
// that ask for none, may write anything: of each kind there is one warning, and nobody waits for
// such a message. Any goroutine may call its methods.
type aside struct {
	name     layout
	warnings *warnings
}

func (a aside) leave(kind, what string, err error) {
	a.warnings.once(kind, func() error {
		return fmt.Errorf("crawl %s: %s cannot be read and is left out: %w; of further ones nothing is said", a.name, what, err)
	})
}

// links leaves out a message of links.
func (a aside) links(seq uint64, err error) {
	a.leave("links", fmt.Sprintf("message %d of stream %s", seq, a.name.linkStream()), err)
}

// subject leaves out links to what is no partition.
func (a aside) subject(subject string, err error) {
	a.leave("links", fmt.Sprintf("subject %.200q of stream %s", subject, a.name.linkStream()), err)
}

// log leaves out a message of a log.
func (a aside) log(seq uint64, err error) {
	a.leave("log", fmt.Sprintf("message %d of stream %s", seq, a.name.logStream()), err)
}

// block leaves out a part of a message of a log.
func (a aside) block(err error) {
	a.leave("log", "a part of a message of stream "+a.name.logStream(), err)
}

// key leaves out a key of the bucket.
func (a aside) key(key string, err error) {
	a.leave("key", fmt.Sprintf("key %.200q of bucket %s", key, a.name.bucket()), err)
}
