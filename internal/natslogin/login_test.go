package natslogin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWith: the user of a server finds its login, from the folder of the store and from anywhere;
// nobody else can read it.
func TestWith(t *testing.T) {
	cache, dir := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	const port = "4711"
	at := "nats://weft:secret@127.0.0.1:" + port
	store := filepath.Join(dir, Store)
	if err := os.Mkdir(store, 0o700); err != nil {
		t.Fatal(err)
	}
	forget, err := Keep(store, at)
	if err != nil {
		t.Fatal(err)
	}
	pointer := filepath.Join(cache, "weft/servers/127.0.0.1:"+port)
	for _, path := range []string{File(store), pointer} {
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if text, err := os.ReadFile(pointer); err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("%s, %v", text, err)
	}
	given := []string{
		"nats://127.0.0.1:" + port, "127.0.0.1:" + port, "tls://localhost:" + port,
		"nats://ada:x@127.0.0.1:" + port, "nats://127.0.0.1:1", "nats://[::1]", "nats://a/../../b", "",
	}
	for folder, env := range map[string]string{dir: t.TempDir(), t.TempDir(): cache} {
		t.Chdir(folder)
		t.Setenv("XDG_CACHE_HOME", env)
		for i, got := range With(given) {
			if want := given[i]; i < 3 && got != at || i >= 3 && got != want {
				t.Errorf("in %q with %q: %s is %s", folder, env, want, got)
			}
		}
	}
	t.Setenv("XDG_CACHE_HOME", cache)
	forget()
	if _, err := os.Stat(pointer); err == nil {
		t.Error("left behind: " + pointer)
	}
}

// TestKept: a store has its login for good, and a new one if it has none that can be read.
func TestKept(t *testing.T) {
	store := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	made, err := Kept(store)
	if err != nil || !strings.HasPrefix(made, "weft:") || len(made) < 30 {
		t.Errorf("%s, %v", made, err)
	}
	if _, err := Keep(store, "nats://"+made+"@127.0.0.1:4711"); err != nil {
		t.Fatal(err)
	}
	if again, err := Kept(store); again != made || err != nil {
		t.Errorf("%s, %v, expected %s", again, err, made)
	}
	for _, junk := range []string{"", "junk", "nats://weft@127.0.0.1", strings.Repeat("x", 1<<20)} {
		if err := os.WriteFile(File(store), []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		if other, err := Kept(store); other == made || err != nil || !strings.HasPrefix(other, "weft:") {
			t.Errorf("%.20q: %s, %v", junk, other, err)
		}
	}
}
