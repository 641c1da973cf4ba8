package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sandbox is the state of a browser's sandbox, which keeps the machine from a page that has taken
// over its process.
type sandbox struct {
	missing string // the reason, if there is none
	user    int    // that the browser runs as; 0: whoever runs this process
}

// Sandbox says how the sandbox of a browser stands, by the browser's path; empty: it runs as this
// process does, in its sandbox. Its profile is in a folder; "": that for temporary files.
func Sandbox(program, temp string) (text string, isThere bool) {
	s := findSandbox(program, temp)
	if s.missing == "" && s.user != 0 {
		return fmt.Sprintf("the browser runs as user %d (nobody), in its sandbox", s.user), true
	}
	return s.missing, s.missing == ""
}

// nobody is the user that a browser of root runs as: Chromium has no sandbox for root.
const nobody = 65534

// probe exits with 0 if the user who runs it can reach the browser and its profile, and Linux lets
// him have the namespaces of which Chromium's sandbox is made.
const probe = `[ -x "$0" ] || { echo "that user may not run $0"; exit 1; }
[ -x "$1" ] || { echo "that user may not enter $1"; exit 1; }
exec unshare --user --pid --net --fork true`

// probeTime is the most time that the probe takes.
const probeTime = 10 * time.Second

// findSandbox finds it out by a probe. That takes 16 ms.
func findSandbox(program, temp string) (s sandbox) {
	command := []string{"sh", "-c", probe, program, tempOr(temp)}
	if os.Geteuid() == 0 {
		s.user = nobody
		command = append(s.switches(), command...)
	} else if hasHelper(program) {
		return s
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
	switch {
	case err == nil:
		return s
	case errors.Is(err, exec.ErrNotFound) && s.user == 0:
		return s // Chromium says what is wrong with it
	case len(out) > 0:
		err = fmt.Errorf("%.200q", strings.TrimSpace(string(out)))
	}
	if s.user != 0 {
		return sandbox{missing: fmt.Sprintf("the browser runs as root, without its sandbox: it cannot run as user %d (%v); run weft as another user where pages are not trusted", s.user, err)}
	}
	return sandbox{missing: fmt.Sprintf("the browser runs without its sandbox: Linux allows no user namespaces here (%v)", err)}
}

// hasHelper reports whether a browser has Chromium's other sandbox, which needs no namespaces: a
// program of root's.
func hasHelper(program string) bool {
	if to, err := filepath.EvalSymlinks(program); err == nil {
		program = to
	}
	for _, folder := range []string{filepath.Dir(program), "/usr/lib/chromium"} {
		if f, err := os.Stat(filepath.Join(folder, "chrome-sandbox")); err == nil && f.Mode()&os.ModeSetuid != 0 {
			return true
		}
	}
	return false
}

// switches are the command that runs another as the user of a sandbox, or empty.
func (s sandbox) switches() []string {
	if s.user == 0 {
		return nil
	}
	id := strconv.Itoa(s.user)
	return []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--no-new-privs"}
}

func tempOr(temp string) string {
	if temp == "" {
		return os.TempDir()
	}
	return temp
}
