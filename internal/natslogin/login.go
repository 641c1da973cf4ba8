// Package natslogin keeps the login of a NATS server for the commands of its user.
//
// A server that is given no login takes that of [Kept], and [Keep] writes it into the store, where
// only the user can read it, with a file in the user's cache folder that leads from the server's
// address to the store and has no secret. [With] finds the login for whoever names the server, in
// the store of the current folder or by that file. Nothing here needs NATS: nodes link no server.
package natslogin

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

const (
	Store = "weft.nats" // the folder of a server, unless its user names another
	Port  = 4222        // of its address for nodes, unless told otherwise
)

// File is the path of the file in a store that has a line: the server's URL, with the login.
func File(store string) string { return filepath.Join(store, "login") }

// mostBytes bounds the file.
const mostBytes = 4 << 10

// Kept returns the login that a store has, or a new one: USER:PASSWORD.
func Kept(store string) (string, error) {
	text, err := readSmall(File(store))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			return u.User.Username() + ":" + password, nil
		}
	}
	return "weft:" + rand.Text(), nil
}

// Keep writes a server's URL with its login for [With], until the server ends and calls forget. The
// store has it after that, too. A user without a cache folder finds it in the folder of the store
// only, which is no mistake.
func Keep(store, server string) (forget func(), err error) {
	temp, err := os.CreateTemp(store, "login.*") // 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp.Name()) // unless it has its name
	_, err = io.WriteString(temp, server+"\n")
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), File(store))
	}
	if err != nil {
		return nil, err
	}
	pointer := pointerFor(server)
	path, err := filepath.Abs(store)
	if err == nil && pointer != "" && os.MkdirAll(filepath.Dir(pointer), 0o700) == nil {
		_ = os.WriteFile(pointer, []byte(path+"\n"), 0o600)
	}
	// One that is left leads to a store whose login is wrong.
	return func() { _ = os.Remove(pointer) }, nil
}

// pointerFor returns the path of the file that leads to the store of a server; empty: the user has
// no folder for it.
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
		host, port = strings.Trim(server, "[]/"), strconv.Itoa(Port)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return strings.ReplaceAll(net.JoinHostPort(host, port), string(filepath.Separator), "_")
}

// With returns the addresses of servers with the logins that are kept for this user. An address
// with a login stays as it is.
func With(servers []string) []string {
	var all []string
	for _, server := range servers {
		stores := []string{Store}
		if path, err := readSmall(pointerFor(server)); err == nil {
			stores = append(stores, path)
		}
		for _, dir := range stores {
			at, err := readSmall(File(dir))
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
	text, err := io.ReadAll(io.LimitReader(f, mostBytes))
	return strings.TrimSpace(string(text)), err
}
