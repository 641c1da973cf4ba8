package natsserver

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/weftcrawl/weft/internal/natslogin"
)

// peerPort is the port of a server for the others, unless told otherwise.
const peerPort = 6222

// Options of a server. Zero values are defaults.
type Options struct {
	Store  string // folder of its streams; it is made
	Listen string // HOST[:PORT] for clients; empty: 127.0.0.1:4222; port 0: any
	Name   string // of this server, the same whenever it has this store; empty: what Listen says

	Peers       []string // HOST[:PORT] of all servers of a cluster, this one too; none: it is alone
	ListenPeers string   // HOST[:PORT] for them; empty: the host of Listen, port 6222

	Login         string // USER:PASSWORD or TOKEN, of clients and peers; empty: none is asked for
	KeepLogin     bool   // in place of Login: one is made, and kept by package natslogin
	Cert, Key, CA string // files in PEM; CA: who has to show a certificate, and by whose authority

	MaxDisk int64 // bytes of streams; 0: three quarters of what is free
	Sync    bool  // sync each message to the disk before it is acknowledged; otherwise every second

	// Failed is called once, on a goroutine of the server, if that can take no message any more,
	// whatever room there will be: its disk was full. The server is to be started again in another
	// process, as it may be stuck in its store. nil: nobody learns it.
	Failed func()
	Warn   func(text string) // gets faults, a line each, as untrusted as its peers; nil: nobody
}

// syncEvery is the time between two syncs: a power failure may take what was acknowledged since.
const syncEvery = time.Second

// clusterName is that of all clusters of Weft: servers of others do not join them.
const clusterName = "weft"

// natsOptions checks o and returns it in the words of NATS.
func natsOptions(o Options) (*server.Options, error) {
	host, port, err := splitAddress(cmp.Or(o.Listen, "127.0.0.1"), natslogin.Port)
	if err != nil {
		return nil, fmt.Errorf("address to listen at: %w", err)
	}
	so := &server.Options{
		ServerName: cmp.Or(o.Name, defaultName(host, port)), Host: host, Port: port, NoSigs: true,
		JetStream: true, StoreDir: o.Store, JetStreamMaxStore: cmp.Or(o.MaxDisk, -1), JetStreamMaxMemory: -1,
		ConnectErrorReports: 1, ReconnectErrorReports: 1, // see logger.silence
		SyncInterval: syncEvery, SyncAlways: o.Sync,
		MaxPayload: 8 << 20, // of a message, in bytes
	}
	if strings.ContainsAny(so.ServerName, " \t\r\n") {
		return nil, fmt.Errorf("name %.64q: expected one without spaces", so.ServerName)
	}
	user, password, both := strings.Cut(o.Login, ":")
	switch {
	case both && (user == "" || password == ""):
		return nil, errors.New("login: expected USER:PASSWORD or a token")
	case both:
		so.Username, so.Password = user, password
	case o.Login != "":
		so.Authorization = o.Login
		user, password = clusterName, o.Login // peers have no tokens
	}
	if so.TLSConfig, err = o.tls(); err != nil {
		return nil, err
	}
	so.TLS, so.TLSTimeout = so.TLSConfig != nil, 10 // seconds
	if len(o.Peers) > 0 {
		err = joinCluster(so, o, host, user, password)
	}
	return so, err
}

// joinCluster makes the server one of several.
func joinCluster(so *server.Options, o Options, host, user, password string) error {
	host, port, err := splitAddress(cmp.Or(o.ListenPeers, net.JoinHostPort(host, strconv.Itoa(peerPort))), peerPort)
	if err != nil {
		return fmt.Errorf("address to listen at for peers: %w", err)
	}
	so.Cluster = server.ClusterOpts{Name: clusterName, Host: host, Port: port, Username: user, Password: password}
	if so.TLSConfig != nil {
		so.Cluster.TLSConfig, so.Cluster.TLSTimeout = so.TLSConfig.Clone(), so.TLSTimeout
	}
	var own bool
	var all []string
	for _, peer := range o.Peers {
		h, p, err := splitAddress(peer, peerPort)
		if err != nil {
			return fmt.Errorf("peer %.128q: %w", peer, err)
		}
		at := net.JoinHostPort(h, strconv.Itoa(p))
		if slices.Contains(all, at) {
			return fmt.Errorf("peer %.128q: named twice", peer)
		}
		all = append(all, at)
		own = own || h == host && p == port
		route := &url.URL{Scheme: "nats-route", Host: at}
		if user != "" {
			route.User = url.UserPassword(user, password)
		}
		so.Routes = append(so.Routes, route)
	}
	if ip := net.ParseIP(host); !own && ip != nil && !ip.IsUnspecified() {
		return fmt.Errorf("peers %s: expected all servers, this one too: %s", strings.Join(o.Peers, ","), net.JoinHostPort(host, strconv.Itoa(port)))
	}
	if len(all) < 3 {
		return fmt.Errorf("peers %s: expected three or more: of two, none may fail", strings.Join(o.Peers, ","))
	}
	return nil
}

// tls returns how the server speaks TLS; nil: it does not.
func (o Options) tls() (*tls.Config, error) {
	switch {
	case o.Cert == "" && o.Key == "" && o.CA == "":
		return nil, nil
	case o.Cert == "" || o.Key == "":
		return nil, errors.New("TLS: expected both a certificate and its key")
	}
	pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %.128q and key %.128q: %w", o.Cert, o.Key, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if o.CA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(o.CA)
	if err != nil {
		return nil, fmt.Errorf("authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("authorities %.128q: no certificate in it, expected some in PEM", o.CA)
	}
	config.ClientCAs, config.RootCAs, config.ClientAuth = pool, pool, tls.RequireAndVerifyClientCert
	return config, nil
}

// splitAddress reads HOST or HOST:PORT.
func splitAddress(s string, port int) (host string, _ int, err error) {
	expected := errors.New("expected HOST or HOST:PORT, such as 10.0.0.1 or 10.0.0.1:" + strconv.Itoa(port))
	if strings.ContainsAny(s, "/@ \t") || s == "" {
		return "", 0, expected
	}
	host, text, err := net.SplitHostPort(s)
	if err != nil { // there is no port
		host = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
		if strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return "", 0, expected
		}
		return host, port, nil
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 || host == "" {
		return "", 0, expected
	}
	return host, port, nil
}

// defaultName differs between the servers of a cluster, and stays.
func defaultName(host string, port int) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}
