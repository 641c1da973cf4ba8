//go:build linux

// Package origin serves real documentation sites with nginx, for benchmarks of whole crawls.
package origin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// The sites: the documentation in Debian's python3.11-doc and libboost1.81-doc.
const (
	Small  = "/usr/share/doc/python3.11/html"
	Medium = "/usr/share/doc/libboost1.81-doc/doc/html"
)

// Site is a folder of pages, served with or without validators.
type Site struct {
	Name, Root string
	Validators bool
	Field      string // header field of every response, as in "Name value"; empty: none
	URL        string // set by Serve
}

// Serve starts an nginx with each site on a port of its own, and its files in a folder. It
// compresses for clients that ask for it. Stop ends it.
func Serve(dir string, sites []Site) (stop func(), err error) {
	var servers strings.Builder
	address := ""
	for i := range sites {
		s := &sites[i]
		if _, err := os.Stat(s.Root); err != nil {
			return nil, err
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		address = ln.Addr().String()
		s.URL = "http://" + address + "/"
		if err := ln.Close(); err != nil { // nginx takes the port
			return nil, err
		}
		without := ""
		if !s.Validators {
			without = `etag off; add_header Last-Modified ""; if_modified_since off;`
		}
		field := ""
		if s.Field != "" {
			field = "add_header " + s.Field + " always;"
		}
		fmt.Fprintf(&servers, "server { listen %s backlog=4096; root %s; index index.html; %s %s }\n", address, s.Root, without, field)
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := strings.NewReplacer("@DIR@", dir, "@SERVERS@", servers.String()).Replace(`
worker_processes 1;
daemon off;
pid @DIR@/nginx.pid;
error_log @DIR@/error.log crit;
events { worker_connections 8192; }
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 1000000;
  open_file_cache max=60000 inactive=600s; open_file_cache_valid 600s;
  gzip on; gzip_comp_level 1; gzip_min_length 256; gzip_types text/css application/javascript;
  access_log off;
  charset utf-8;
  client_body_temp_path @DIR@/b; proxy_temp_path @DIR@/p; fastcgi_temp_path @DIR@/f; uwsgi_temp_path @DIR@/u; scgi_temp_path @DIR@/s;
  @SERVERS@
}
`)
	if err := os.WriteFile(conf, []byte(text), 0o666); err != nil {
		return nil, err
	}
	nginx, err := process.Start(context.Background(), process.Options{}, "nginx", "-c", conf)
	if err != nil {
		return nil, err
	}
	stop = func() {
		nginx.Signal(syscall.SIGTERM)
		<-nginx.Ended()
	}
	for range 100 {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return stop, c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return nil, errors.New("nginx does not respond")
}
