package frontier_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// TestRoles checks that a URL that is requested for its role is another one than the same URL when
// it is crawled, and that one that is crawled is not requested for its role.
func TestRoles(t *testing.T) {
	f := frontier.New(frontier.Config{Beyond: true})
	page, external, asset := u(t, "a/x"), u(t, "a/x"), u(t, "a/x")
	external.Role, external.From, external.Depth = frontier.RoleExternal, "http://b.test/", 1
	asset.Role, asset.From = frontier.RoleAsset, "http://b.test/"
	needed := page
	needed.Role = frontier.RoleNeeded
	for _, add := range []struct {
		what string
		url  frontier.URL
		want bool
	}{
		{"an external link", external, true}, {"the same as an asset", asset, false}, {"the same in scope", page, true},
		{"in scope, for a page", needed, false}, {"the external link again", external, false},
	} {
		if got := f.Add(add.url); got != add.want {
			t.Errorf("%s: added: %t", add.what, got)
		}
	}
	leases := f.Lease(epoch, 9)
	if len(leases) != 2 || leases[0].Role != frontier.RolePage || leases[1].Role != frontier.RoleExternal {
		t.Fatalf("leases %+v", leases)
	}
	if v := f.View(); v.LeasedURLs() != 2 || !v.IsLeased(page.URL) {
		t.Errorf("%d leases", v.LeasedURLs())
	}
	f.Retry(epoch, leases[1], frontier.Result{}, epoch)
	f.Done(epoch, leases[0], frontier.Result{})
	if again := f.Lease(epoch.Add(time.Second), 9); len(again) != 1 || again[0].Role != frontier.RoleExternal || again[0].Tries != 1 {
		t.Fatalf("leases %+v", again)
	} else {
		f.Done(epoch, again[0], frontier.Result{})
	}
	other := u(t, "a/y")
	f.Add(other)
	other.Role = frontier.RoleExternal
	if f.Add(other) {
		t.Error("a URL that is crawled is added as an external link")
	}
}
