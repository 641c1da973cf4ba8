package render

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// programs are the browsers to look for, the best first: the shell starts in a fifth of the time,
// and takes a third less CPU time and memory for a page.
var programs = []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// ErrNoBrowser is returned when there is no browser.
var ErrNoBrowser = errors.New("no browser found, expected Chromium: Debian has it as chromium-headless-shell, and --browser names another")

// NotFoundError is returned for a browser that cannot be run.
type NotFoundError struct {
	Name string
	Err  error // without the name
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("browser %.128q: %v", e.Name, e.Err) }

func (e *NotFoundError) Unwrap() error { return e.Err }

// Find returns the path of a browser: the one that is named, or the best one there is.
func Find(name string) (string, error) {
	if name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			var of *exec.Error
			var at *fs.PathError
			if errors.As(err, &of) {
				err = of.Err
			}
			if errors.As(err, &at) {
				err = at.Err
			}
			return "", &NotFoundError{name, err}
		}
		return path, nil
	}
	for _, p := range programs {
		if path, err := exec.LookPath(p); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBrowser
}

// deadEnd is the proxy of a browser: an address to which nothing can connect. What does not ask for
// a request by the protocol, such as a WebSocket or a preconnect, ends there.
const deadEnd = "http://255.255.255.255:1"

// flags are those of a browser that has no way out but the protocol, and calls nobody.
func (o Options) flags(profile string, s sandbox) []string {
	flags := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + profile, "--no-first-run", "--no-default-browser-check",

		"--proxy-server=" + deadEnd, "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--disable-background-networking", "--disable-component-update", "--disable-domain-reliability", "--disable-sync",
		"--disable-client-side-phishing-detection", "--no-pings", "--disable-extensions", "--disable-breakpad", "--disable-default-apps",

		"--block-new-web-contents", "--deny-permission-prompts", "--mute-audio", "--hide-scrollbars",
		// In MB. V8 knows no size of the heap before it has collected once, and a renderer that shows
		// page after page had 60 MB of garbage by then.
		"--js-flags=--initial-old-space-size=8",
		"--disable-gpu", "--in-process-gpu", "--disable-dev-shm-usage", "--password-store=basic", "--use-mock-keychain",
		"--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
		// Frames of other sites are part of the page, on its clock. It has no secrets.
		"--disable-site-isolation-trials",
		"--disable-hang-monitor", "--disable-prompt-on-repost", "--metrics-recording-only",
		// The network is a part of the browser: nothing reaches it but what the protocol answers, and a
		// process less saves a fifth of a start and a tenth of a page.
		"--enable-features=NetworkServiceInProcess2",
		"--disable-features=IsolateOrigins,site-per-process,WebRtcHideLocalIpsWithMdns,BackForwardCache,Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider",
	}
	if o.UserAgent != "" {
		flags = append(flags, "--user-agent="+o.UserAgent)
	}
	if s.missing != "" {
		flags = append(flags, "--no-sandbox")
	}
	return flags
}

// process is a browser that runs, with all its processes and its profile. A shell is its parent:
// it outlives whoever started it, however that ends, and removes the profile behind the browser,
// which ends with the pipes.
type process struct {
	cmd     *exec.Cmd
	profile string
	stderr  tail
	in      *os.File // commands
	out     *os.File // replies and events
	ended   chan struct{}
}

// keeper makes the profile, runs the browser, and removes it. So there is no moment at which a kill
// of Weft would leave it. Interrupts of the terminal are for Weft.
//
// A full browser's handlers of crashes are no children of it. One that traces a renderer while that
// is killed waits for ever, and so does the renderer: they end with the browser.
const keeper = `trap '' INT HUP QUIT TERM
profile=$0
mkdir -m 700 "$profile" || exit 1
[ "$1" = 0 ] || chown "$1" "$profile"
shift
"$@" </dev/null
status=$?
exec 3<&- 4>&-
for p in /proc/[0-9]*; do
	name= command=
	read -r name 2>/dev/null <"$p/comm"
	case $name in *crashpad*) read -r command 2>/dev/null <"$p/cmdline" ;; esac
	case $command in *"$profile"*) kill -KILL "${p#/proc/}" 2>/dev/null ;; esac
done
for try in 1 2 3 4 5 6 7 8 9 10; do
	rm -rf "$profile" 2>/dev/null && break
	sleep 0.2
done
exit $status`

// startProcess starts a browser with a profile below a folder, and with the flags that it is given.
func startProcess(program string, o Options, flags func(profile string, s sandbox) []string) (*process, error) {
	// A socket in a folder within takes 108 bytes at most.
	profile := filepath.Join(tempOr(o.Temp), "weft-browser-"+rand.Text()[:10])
	p := &process{profile: profile, ended: make(chan struct{})}
	fromUs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, toUs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, fromUs.Close(), in.Close())
	}
	p.in, p.out = in, out
	s := findSandbox(program, o.Temp)
	arguments := append([]string{"-c", keeper, profile, strconv.Itoa(s.user)}, s.switches()...)
	p.cmd = exec.Command("/bin/sh", append(append(arguments, program), flags(profile, s)...)...)
	p.cmd.ExtraFiles = []*os.File{fromUs, toUs}
	p.cmd.Stderr = &p.stderr
	p.cmd.Env = append(environment(os.Environ(), o.window), "HOME="+profile, "TMPDIR="+profile, "XDG_CONFIG_HOME="+profile, "XDG_CACHE_HOME="+profile, "DBUS_SESSION_BUS_ADDRESS=/dev/null")
	ownGroup(p.cmd)
	err = p.cmd.Start()
	fromUs.Close()
	toUs.Close()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	go func() {
		_ = p.cmd.Wait() // see crashed
		close(p.ended)
	}()
	return p, nil
}

// screens are the variables by which a program finds a screen.
var screens = []string{"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XAUTHORITY"}

// environment returns the variables that a browser needs. It gets no others: they may be secrets,
// and pages are strangers. A window needs a screen, too.
func environment(all []string, window bool) (some []string) {
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "PATH", name == "LANG", name == "LANGUAGE", name == "TZ", name == "LD_LIBRARY_PATH",
			strings.HasPrefix(name, "LC_"), strings.HasPrefix(name, "FONTCONFIG_"),
			window && slices.Contains(screens, name):
			some = append(some, v)
		}
	}
	return some
}

// kill ends all processes of the browser at once, and waits for its keeper, which removes the
// profile.
func (p *process) kill() {
	p.in.Close()
	var members []int
	select {
	case <-p.ended: // its number may be that of another process by now
	default:
		members, _ = tree(p.cmd.Process.Pid)
	}
	for _, pid := range members {
		if pid != p.cmd.Process.Pid {
			kill(pid)
		}
	}
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second): // SIGKILL does not end it
		kill(-p.cmd.Process.Pid)
	}
	p.out.Close()
}

// close ends the browser in good order.
func (p *process) close(ctx context.Context, c *conn) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_ = c.call(ctx, "", "Browser.close", nil, nil)
	p.in.Close()
	select {
	case <-p.ended:
		p.out.Close()
	case <-ctx.Done():
		p.kill()
	}
}

// crashed reports whether a browser that was killed had died before, by another signal. If it has
// said why it cannot run, it has not crashed.
func (p *process) crashed() bool {
	select {
	case <-p.ended:
	default:
		return false
	}
	switch p.cmd.ProcessState.ExitCode() - 128 { // as shells have it
	case int(syscall.SIGSEGV), int(syscall.SIGBUS), int(syscall.SIGILL), int(syscall.SIGTRAP), int(syscall.SIGABRT):
		return !strings.Contains(p.stderr.last(), ":FATAL:")
	}
	return false
}

// tail keeps the end of what a browser says, for an error that it cannot start.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const longestTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - longestTail; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

// last returns the last line that is no complaint about D-Bus, which every start has; of a browser
// that gave up, the line that says why.
func (t *tail) last() (text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range strings.Lines(string(t.text)) {
		if strings.Contains(line, ":FATAL:") {
			return strings.TrimSpace(line)
		}
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "dbus") {
			text = line
		}
	}
	return text
}

// lastWords returns why a browser that was killed has not started: what it has said, if it ended by
// itself.
func (p *process) lastWords(err error) error {
	var foreign *json.SyntaxError
	switch last := p.stderr.last(); {
	case errors.As(err, &foreign):
		return errors.New("it does not speak the DevTools protocol")
	case !errors.Is(err, errGone):
		return err
	case last != "":
		return fmt.Errorf("it says %.512q", last)
	}
	return errors.New("it ends without a word")
}

// tree returns a process and all that descend from it, as far as they are not orphans.
func tree(root int) ([]int, error) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := make(map[int][]int)
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var pid, parent int
		var state string
		if _, after, ok := strings.Cut(string(text), ") "); ok {
			fmt.Sscan(string(text), &pid)
			fmt.Sscan(after, &state, &parent)
			children[parent] = append(children[parent], pid)
		}
	}
	members := []int{root}
	for i := 0; i < len(members); i++ {
		members = append(members, children[members[i]]...)
	}
	return members, nil
}
