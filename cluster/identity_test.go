package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestRefusedFolder: a crawl does not begin to be on the servers if the folder of its first node is
// refused.
func TestRefusedFolder(t *testing.T) {
	t.Parallel()
	c := begun(t)
	o := weft.Options{Seeds: []string{"http://127.0.0.1:9/"}, Pace: weft.Pace{Retries: -1}, Job: filepath.Join(t.TempDir(), "job")}
	refused := func(want string) {
		t.Helper()
		_, err := joined(t, c, o)
		if err == nil || err.Error() != o.Job+": "+want {
			t.Errorf("%v, expected %s", err, want)
		}
		if found, err := find(t.Context(), c.servers); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	}
	alone, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused("the job of a crawl on one machine, expected a new folder")

	o.Job = t.TempDir()
	if err := os.WriteFile(identityFile(o.Job), []byte(`{"crawl": "x", "node": "y", "incarnation": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("the job of a node of a crawl that was deleted from the servers, or has another name; expected a new folder")
}

// joined joins a crawl.
func joined(t *testing.T, r *remote, o weft.Options) (*node, error) {
	t.Helper()
	n := &node{remote: r}
	return n, n.join(t.Context(), &Options{}, o, new(figures))
}

// TestUnidentified: a folder whose process has ended after it made the job and before it had an
// identity is as good as a new one. One that another process has had since it was read is refused.
func TestUnidentified(t *testing.T) {
	t.Parallel()
	c := begun(t)
	o := weft.Options{Seeds: []string{"http://127.0.0.1:9/"}, Job: filepath.Join(t.TempDir(), "job")}
	n, err := joined(t, c, o)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "job")
	if err := os.CopyFS(copied, os.DirFS(o.Job)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(identityFile(copied)); err != nil {
		t.Fatal(err)
	}
	found, err := readFolder(copied)
	if err != nil {
		t.Fatal(err)
	}
	o.Job = copied
	again, err := joined(t, c, o)
	if err != nil || again.identity.Node == n.identity.Node {
		t.Fatal(err)
	}
	if _, err := found.identify(&again.plan); err == nil || !strings.HasSuffix(err.Error(), "another process had it a moment ago, expected one at a time") {
		t.Error(err)
	}
}
