package ctl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Name is the socket's name in the job's folder.
const Name = "ctl.sock"

// making is the private folder in which the socket is made.
const making = Name + ".new"

// listen makes the socket. A job has one crawl at a time, so an existing socket belongs to one that
// has ended.
func listen(dir string) (*net.UnixListener, error) {
	private := filepath.Join(dir, making)
	if err := os.RemoveAll(private); err != nil {
		return nil, err
	}
	if err := os.Mkdir(private, 0o700); err != nil {
		return nil, err
	}
	ln, err := listenIn(private)
	if err == nil {
		err = os.Rename(filepath.Join(private, Name), filepath.Join(dir, Name))
	}
	if err = errors.Join(err, os.RemoveAll(private)); err != nil && ln != nil {
		err = errors.Join(err, ln.Close())
	}
	return ln, err
}

func listenIn(dir string) (ln *net.UnixListener, err error) {
	err = addressed(dir, func(address string) (err error) {
		if ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: address}); err == nil {
			ln.SetUnlinkOnClose(false) // it is renamed by then
			err = os.Chmod(address, 0o600)
		}
		return err
	})
	return ln, err
}

// connect connects to the socket.
func connect(ctx context.Context, dir string) (c net.Conn, err error) {
	err = addressed(dir, func(address string) (err error) {
		c, err = new(net.Dialer).DialContext(ctx, "unix", address)
		return err
	})
	return c, err
}

// addressed calls fn with an address of the socket in dir. If its path is too long, that is a
// shorter one, valid during the call.
func addressed(dir string, fn func(address string) error) error {
	path := filepath.Join(dir, Name)
	most := len(syscall.RawSockaddrUnix{}.Path) - 1
	if len(path) <= most {
		return fn(path)
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%s: a path of %d bytes, expected at most %d for a socket", path, len(path), most)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return fn(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), Name))
}
