package server

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A server without Options.Login that asks for one all the same keeps it in its store, where only
// its user can read it. Whoever of that user names the server finds it there: in the store of the
// current folder, or by a file in the user's cache folder that names the store.

// loginFile is in the store: a line with the server's URL, with the login.
const loginFile = "login"

// mostLogin bounds the file, in bytes.
const mostLogin = 4 << 10

// keptLogin returns the login that a store has, or a new one.
func keptLogin(store string) (string, error) {
	text, err := readSmall(filepath.Join(store, loginFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			return u.User.Username() + ":" + password, nil
		}
	}
	return clusterName + ":" + rand.Text(), nil
}

// keepLogin writes the URL with the login, for whoever of this user looks for it.
func keepLogin(store, at string) error {
	temp, err := os.CreateTemp(store, loginFile+".*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // unless it has its name
	_, err = io.WriteString(temp, at+"\n")
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(store, loginFile))
	}
	return err
}

// pointTo writes the file that leads from the address of a server to its store, and returns its
// path. Without one, which is no mistake, the login is found in the folder of the store only.
func pointTo(store, server string) (pointer string) {
	pointer = pointerFor(server)
	path, err := filepath.Abs(store)
	if err == nil && pointer != "" {
		err = os.MkdirAll(filepath.Dir(pointer), 0o700)
	}
	if err != nil || pointer == "" || os.WriteFile(pointer, []byte(path+"\n"), 0o600) != nil {
		return ""
	}
	return pointer
}

// pointerFor returns the path of that file; empty: the user has no folder for it.
func pointerFor(server string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "weft", "servers", address(server))
}

// address is HOST:PORT of a server, without its login.
func address(server string) string {
	if _, rest, ok := strings.Cut(server, "://"); ok {
		server = rest
	}
	server = server[strings.LastIndexByte(server, '@')+1:]
	host, port, err := net.SplitHostPort(strings.TrimSuffix(server, "/"))
	if err != nil {
		host, port = strings.Trim(server, "[]/"), strconv.Itoa(ClientPort)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return strings.ReplaceAll(net.JoinHostPort(host, port), string(filepath.Separator), "_")
}

// WithLogins returns the addresses of servers with the logins that are kept by servers of this
// user: see [Options.KeepLogin]. An address with a login stays as it is. Store is where to look
// first, a folder.
func WithLogins(servers []string, store string) []string {
	var all []string
	for _, server := range servers {
		stores := []string{store}
		if path, err := readSmall(pointerFor(server)); err == nil {
			stores = append(stores, path)
		}
		for _, dir := range stores {
			at, err := readSmall(filepath.Join(dir, loginFile))
			if err == nil && !strings.Contains(server, "@") && address(at) == address(server) {
				server = at
			}
		}
		all = append(all, server)
	}
	return all
}

// readSmall reads the line of a file.
func readSmall(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostLogin))
	return strings.TrimSpace(string(text)), err
}
