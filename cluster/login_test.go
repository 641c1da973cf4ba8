package cluster_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/webtest"
)

// tiny is a web that a node crawls in a moment.
func tiny() webtest.Config {
	web := small()
	web.Hosts, web.Pages = 4, 5
	web.Rates = webtest.Rates{DeadHost: -1, Stalled: -1, Flaky: -1, Failing: -1, ShyRobots: -1, ClosedRobots: -1}
	return web
}

// configured runs a server as its operator has configured it.
func configured(t *testing.T, text string) *server.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "STORE", t.TempDir())), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, *o)
}

// as returns where a user finds a server.
func as(user string, s *server.Server) string {
	return "nats://" + user + ":secret@" + s.Addr().String()
}

// listed returns the subjects of a row of docs/cluster.md, for a crawl with the name test.
func listed(t *testing.T, row string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "| "+row+" | ")
	cells, _, ended := strings.Cut(rest, " |\n")
	if !found || !ended {
		t.Fatalf("docs/cluster.md has no row %q", row)
	}
	return strings.NewReplacer("` `", `", "`, "`", `"`, "NAME", "test").Replace(cells)
}

// TestPermissions: a login with the permissions of docs/cluster.md can crawl. One that lacks a
// permission gets an error that names it.
func TestPermissions(t *testing.T) {
	t.Parallel()
	s := configured(t, `
jetstream { store_dir: "STORE" }
accounts { A { jetstream: enabled, users: [
  { user: enough, password: secret, permissions: { publish: [`+listed(t, "publish")+`], subscribe: [`+listed(t, "subscribe")+`] } }
  { user: streams, password: secret, permissions: { publish: { deny: "$JS.API.STREAM.CREATE.>" } } }
  { user: keys, password: secret, permissions: { publish: { deny: "$KV.>" } } }
  { user: deaf, password: secret, permissions: { subscribe: { deny: "weft.>" } } }
  { user: mute, password: secret, permissions: { publish: { deny: "weft.>" } } }
] } }`)
	for user, want := range map[string]string{
		"enough":  "",
		"streams": `the login lacks a permission: Publish to "$JS.API.STREAM.CREATE.KV_weft_streams"; docs/cluster.md lists those of a node`,
		"keys":    `the login lacks a permission: Publish to "$KV.weft_keys.plan"; docs/`,
		"deaf":    `the login lacks a permission: Subscription to "weft.deaf.address.`,
		"mute":    `the login lacks a permission: Publish to "weft.mute.address.`,
	} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			c := crawlOn(t, tiny(), s)
			if want != "" {
				c.servers.Name = user
			}
			c.servers.Servers = []string{as(user, s)}
			a, err := c.tryJoin("a", c.servers.Servers[0])
			if err == nil {
				c.wait()
				err = a.err
			}
			if !strings.Contains(errorText(err), want) || want == "" && err != nil {
				t.Errorf("%v\nexpected %q", err, want)
			}
			for _, m := range c.all {
				for len(m.warnings) > 0 {
					t.Error("warned:", <-m.warnings)
				}
			}
			if want == "" {
				c.check()
			}
		})
	}
}

// TestAccount: an account that is too small for a crawl refuses it, or has it wait, with one line
// that says what is wanted.
func TestAccount(t *testing.T) {
	t.Parallel()
	s := configured(t, `
jetstream { store_dir: "STORE" }
accounts {
  S { jetstream { max_store: 1MB, max_streams: 2 }, users [ { user: streams, password: secret } ] }
  R { jetstream { max_store: 1MB, max_bytes_required: true }, users [ { user: bounds, password: secret } ] }
  B { jetstream { max_store: 100 }, users [ { user: bytes, password: secret } ] }
}`)
	for user, want := range map[string]string{
		"streams": "maximum number of streams reached, expected an account with three streams for each crawl (weft cluster list shows crawls that are over)",
		"bounds":  "account requires a stream config to have max bytes set, expected an account with streams of unlimited size",
		"bytes":   "the servers have no room: resource limits exceeded for account",
	} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			c := crawlOn(t, tiny(), s)
			c.servers.Servers = []string{as(user, s)}
			a, err := c.tryJoin("a", c.servers.Servers[0])
			if err == nil { // it waits for more
				a.hears(t, want)
				c.kill(a)
				return
			}
			if !strings.HasSuffix(err.Error(), "…@"+s.Addr().String()+": "+want) {
				t.Errorf("%v\nexpected %s", err, want)
			}
		})
	}
}

// TestLoginEnds: the login of a node is refused while it crawls, as when it expires. The node says
// so once, stops as its lease ends, and goes on when the login is accepted again.
func TestLoginEnds(t *testing.T) {
	t.Parallel()
	users := func(password string) []*server.User { return []*server.User{{Username: "ada", Password: password}} }
	o := server.Options{JetStream: true, StoreDir: t.TempDir(), Users: users("secret")}
	s := serve(t, o)
	o.Host, o.NoLog, o.NoSigs, o.Port = "127.0.0.1", true, true, s.Addr().(*net.TCPAddr).Port
	change := func(password string) {
		t.Helper()
		next := o
		next.Users = users(password)
		if err := s.ReloadOptions(&next); err != nil {
			t.Fatal(err)
		}
	}
	web := lengthy()
	web.Hosts = 15
	c := crawlOn(t, web, s)
	c.servers.Servers = []string{as("ada", s)}
	a := c.join("a")
	a.until(t, 10)
	change("another")
	a.hears(t, "the servers refuse the login: authorization violation")
	a.hears(t, "joins again")
	a.hears(t, "the servers refuse the login: authorization violation; trying again")
	change("secret")
	c.wait()
	if a.err != nil {
		t.Error(a.err)
	}
	c.check()
}

// TestNKey: a file of credentials may have the seed of an NKey alone, as in a file of NATS or bare.
func TestNKey(t *testing.T) {
	t.Parallel()
	const seed, public = "SUAKF66AMWA7LWDICKNW7VN3I43KOWJW7KHNRBQIFTA7WP24TJQ6QB6RKQ", "UCP2TBCVCNFLOXUF2NZWQJLQNQTE4I2222BR2SAECY54ZOHQWLX3VNOZ"
	s := serve(t, server.Options{JetStream: true, Nkeys: []*server.NkeyUser{{Nkey: public}}})
	for file, want := range map[string]string{
		seed + "\n": "",
		"-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n": "",
		"neither": "expected NATS credentials, or the seed of an NKey",
	} {
		path := filepath.Join(t.TempDir(), "creds")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := cluster.Crawls(t.Context(), cluster.Options{Servers: []string{s.ClientURL()}, Creds: path})
		if text := errorText(err); text != want && (want == "" || !strings.Contains(text, want)) {
			t.Errorf("%q: %v, expected %q", file, err, want)
		}
	}
}
