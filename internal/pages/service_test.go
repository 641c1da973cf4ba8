package pages_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// blocks returns the fenced blocks of a kind in a page.
func blocks(t *testing.T, path, kind string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, b[1])
	}
	return all
}

// TestServiceUnits: systemd takes the units of docs/service.md as they are, without a warning.
// Where it is missing, they are at least files of its form.
func TestServiceUnits(t *testing.T) {
	t.Parallel()
	weft := wefttest.Program(t)
	dir := t.TempDir()
	line := regexp.MustCompile(`^(#.*|\[[A-Z][a-z]+\]|[A-Z][A-Za-z]+=.+|    \S.*|)$`)
	var units []string
	for _, block := range blocks(t, "../../docs/service.md", "ini") {
		for _, unit := range strings.Split(block, "# /etc/systemd/system/")[1:] {
			name, text, _ := strings.Cut(unit, "\n")
			for l := range strings.SplitSeq(text, "\n") {
				if !line.MatchString(l) {
					t.Errorf("%s: %s", name, l)
				}
			}
			text = strings.ReplaceAll(text, "/usr/local/bin/weft", weft)
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			units = append(units, name)
		}
	}
	if !slices.Equal(units, []string{"weft.service", "weft-update.service", "weft-update.timer", "weft-serve.service"}) {
		t.Fatalf("units %q", units)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("no systemd-analyze")
	}
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", append([]string{"verify", "--man=no", "--recursive-errors=no"}, units...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestServiceImage: the last stage of the image of docs/service.md, and of the repository's, has
// all that the command needs. It runs as the user of the image in a folder that has nothing else:
// no library, no shell, no file of a system, no environment but the image's.
func TestServiceImage(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can leave the file system")
	}
	weft := wefttest.Program(t)
	of := blocks(t, "../../docs/service.md", "dockerfile")
	repository, err := os.ReadFile("../../Dockerfile")
	if err != nil || len(of) != 1 {
		t.Fatalf("%d images, %v", len(of), err)
	}
	for name, text := range map[string]string{"service.md": of[0], "Dockerfile": string(repository)} {
		t.Run(name, func(t *testing.T) {
			s := newBash(t, weft)
			root := t.TempDir()
			if err := os.Chmod(root, 0o755); err != nil {
				t.Fatal(err)
			}
			i, err := unpack(root, text, map[string]string{
				"/weft": weft, "/go/bin/weft": weft, "/etc/ssl/certs/ca-certificates.crt": filepath.Join(s.dir, "ca.pem"),
			})
			if err != nil {
				t.Fatal(err)
			}
			proxy := s.rewrite.Replace("http://proxy.example:3128")
			for _, args := range []string{"crawl --job example.org.weft --proxy " + proxy + " https://example.org/", "status example.org.weft", "export example.org.weft -o pages.sqlite", "crawl --update example.org.weft --proxy " + proxy} {
				cmd := &exec.Cmd{
					Path: i.entry, Args: append([]string{"weft"}, strings.Fields(args)...), Dir: i.dir, Env: i.env,
					SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: i.user, Gid: i.user}},
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("weft %s: %v\n%s", args, err, out)
				}
			}
			records, err := os.ReadFile(filepath.Join(root, i.dir, "example.org.weft/pages.jsonl"))
			if n := strings.Count(string(records), `"status":200`); err != nil || n < 15 {
				t.Errorf("%d pages, %v", n, err)
			}
		})
	}
}

// image is the last stage of a Dockerfile.
type image struct {
	user       uint32 // and group
	dir, entry string
	env        []string
}

// unpack makes the files of an image in root: those that it copies, from the files of this machine
// that stand for them.
func unpack(root, dockerfile string, from map[string]string) (i image, err error) {
	i.dir = "/"
	_, stage, _ := strings.Cut(strings.ReplaceAll(dockerfile, "\\\n", ""), "FROM scratch\n")
	for line := range strings.Lines(stage) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		switch what, rest := words[0], words[1:]; what {
		case "COPY":
			owner := "0:0"
			for strings.HasPrefix(rest[0], "--") {
				if chown, ok := strings.CutPrefix(rest[0], "--chown="); ok {
					owner = chown
				}
				rest = rest[1:]
			}
			err = place(filepath.Join(root, rest[1]), rest[0], from[rest[0]], strings.HasSuffix(rest[1], "/"), owner)
		case "USER":
			_, err = fmt.Sscanf(rest[0], "%d:", &i.user)
		case "WORKDIR":
			i.dir = rest[0]
			err = os.MkdirAll(filepath.Join(root, i.dir), 0o755)
		case "ENV":
			i.env = append(i.env, rest...)
		case "ENTRYPOINT":
			i.entry = strings.Trim(rest[0], `[]"`)
		case "VOLUME":
		default:
			err = fmt.Errorf("an unknown instruction: %s", line)
		}
		if err != nil {
			return i, err
		}
	}
	return i, nil
}

// place copies a file, or makes a folder where there is none to copy.
func place(to, name, file string, into bool, owner string) error {
	if file == "" {
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		return exec.Command("chown", owner, to).Run()
	}
	if into {
		to = filepath.Join(to, filepath.Base(name))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	// A program that this process writes may be open in a child that another test starts, and is
	// "text file busy" as long as that has not called exec.
	return exec.Command("install", "-m", "755", file, to).Run()
}
