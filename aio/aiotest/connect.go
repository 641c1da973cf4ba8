package aiotest

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/weftcrawl/weft/aio"
)

// Connect opens a connection to a *net.TCPAddr or *net.UnixAddr, which takes a round trip; or a
// datagram socket to a *net.UDPAddr: see AnswerUDP. Errors: ECONNREFUSED if nobody listens there
// (ENOENT for a Unix socket), ETIMEDOUT when the first segment was lost seven times.
func (n *Net) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	n.bind(task)
	if err := task.Checkpoint(); err != nil {
		return nil, err
	}
	if udp, ok := to.(*net.UDPAddr); ok {
		return n.connectUDP(udp), nil
	}
	at, err := endpointOf(to)
	if err != nil {
		return nil, err
	}
	client, server := n.pair(at, to)
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	if at.path != "" {
		refused = os.NewSyscallError("connect", syscall.ENOENT)
	}

	// Three segments: the first finds out whether somebody listens, and a client that has given up
	// meanwhile never sends the third.
	var lot aio.Lot
	delay, arrives := n.syn(at)
	if arrives {
		client.wire.send(delay+n.latency(), func() {
			ln := n.listener(at)
			if ln == nil {
				server.wire.send(n.latency(), func() { lot.Unpark(refused) })
				return
			}
			server.wire.send(n.latency(), func() {
				if lot.Unpark(nil) {
					client.wire.send(n.latency(), func() { ln.arrive(server) })
				}
			})
		})
	} else {
		giveUp := n.loop.CallLater(delay, func() { lot.Unpark(os.NewSyscallError("connect", syscall.ETIMEDOUT)) })
		defer giveUp.Cancel()
	}
	if err := lot.Park(task, "a connection to be made"); err != nil {
		return nil, err
	}
	n.open[client] = fmt.Sprintf("connection to %v", to)
	return client, nil
}
