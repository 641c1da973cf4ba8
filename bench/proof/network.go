package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/weftcrawl/weft/internal/process"
)

// network is a web and a line between machines, which are network namespaces of Linux
// (ip-netns(8)). This process is at the hub of both: the web's addresses are its own. Without one,
// all machines are this one.
type network struct {
	machines []*machine
}

// machine is a computer of its own, as far as the network is concerned.
type machine struct {
	name  string
	space string // the namespace; empty: this machine
	addr  string // on the line between machines
}

// The addresses of the hub and of machines, and the first byte of those of the web.
const (
	webNetwork  = 10
	hubOnWeb    = "172.31.1.1"
	onWeb       = "172.31.1.%d/24"
	onLine      = "172.31.2.%d"
	hubOnLine   = "172.31.2.1/24"
	hubBridge   = "web"
	lineBridge  = "line"
	firstNumber = 10
)

// hubEnv marks a process that is at the hub.
const hubEnv = "WEFT_PROOF_HUB"

// AtHub runs this program again, with the same arguments, in a network of its own that this
// machine's other processes do not see, and returns true once it has ended. In that process it
// returns false.
func AtHub(ctx context.Context) (ran bool, err error) {
	if os.Getenv(hubEnv) != "" {
		return false, nil
	}
	if os.Getuid() != 0 {
		return false, errors.New("network namespaces need root")
	}
	c := exec.CommandContext(ctx, "unshare", append([]string{"--net", "/proc/self/exe"}, os.Args[1:]...)...)
	if c.Args[2], err = os.Executable(); err != nil {
		return false, err
	}
	c.Env = append(os.Environ(), hubEnv+"=1")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return true, c.Run()
}

// newNetwork makes the hub.
func newNetwork() (*network, error) {
	for _, bridge := range []string{hubBridge, lineBridge} {
		_ = ip("link del " + bridge) // of the crawl before, if there was one
	}
	return &network{}, ip(
		"link set lo up",
		fmt.Sprintf("route replace local %d.0.0.0/8 dev lo", webNetwork),
		"link add "+hubBridge+" type bridge",
		"addr add "+hubOnWeb+"/24 dev "+hubBridge,
		"link set "+hubBridge+" up",
		"link add "+lineBridge+" type bridge",
		"addr add "+hubOnLine+" dev "+lineBridge,
		"link set "+lineBridge+" up",
	)
}

// add makes a machine, with a link to the line, and to the web if it crawls.
func (n *network) add(name string, crawls bool) (*machine, error) {
	m := &machine{name: name, space: fmt.Sprintf("weft-%d-%s", os.Getpid(), name)}
	number := firstNumber + len(n.machines)
	m.addr = fmt.Sprintf(onLine, number)
	if err := ip("netns add " + m.space); err != nil {
		return nil, err
	}
	n.machines = append(n.machines, m)
	err := errors.Join(ip("-n "+m.space+" link set lo up"), m.link(lineBridge, m.addr+"/24"))
	if crawls {
		err = errors.Join(err, m.link(hubBridge, fmt.Sprintf(onWeb, number)),
			ip(fmt.Sprintf("-n %s route add %d.0.0.0/8 via %s", m.space, webNetwork, hubOnWeb)))
	}
	return m, err
}

// link connects the machine to a bridge of the hub.
func (m *machine) link(bridge, addr string) error {
	return ip(
		fmt.Sprintf("link add %s type veth peer name %s netns %s", m.end(bridge), bridge, m.space),
		fmt.Sprintf("link set %s master %s up", m.end(bridge), bridge),
		fmt.Sprintf("-n %s addr add %s dev %s", m.space, addr, bridge),
		fmt.Sprintf("-n %s link set %s up", m.space, bridge),
	)
}

// end names the hub's end of the machine's link to a bridge.
func (m *machine) end(bridge string) string { return m.name + "-" + bridge }

// cut cuts the machine's links to the bridges, or mends them.
func (m *machine) cut(state string, bridges ...string) (err error) {
	for _, bridge := range bridges {
		err = errors.Join(err, ip("link set "+m.end(bridge)+" "+state))
	}
	return err
}

// start starts a program on the machine.
func (m *machine) start(ctx context.Context, o process.Options, program string, args ...string) (*process.Process, error) {
	if m.space != "" {
		// It becomes the program: the same process.
		args = append([]string{"netns", "exec", m.space, program}, args...)
		program = "ip"
	}
	return process.Start(ctx, o, program, args...)
}

func (n *network) close() (err error) {
	if n == nil {
		return nil
	}
	for _, m := range n.machines {
		err = errors.Join(err, ip("netns del "+m.space))
	}
	return err
}

// ip runs the program ip(8) for each line of arguments, until one fails.
func ip(lines ...string) error {
	for _, line := range lines {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}
