package metrics

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	dashboard = "../../docs/metrics/dashboard.json"
	alerts    = "../../docs/metrics/alerts.yml"
)

// expressions returns the queries of the dashboard.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(dashboard)
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[int]bool)
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d, %q: its id is taken, it has no title, or stands beyond the edge", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

// name is the name of a series in a query, with its labels.
var name = regexp.MustCompile(`\b((?:weft|process|go)_[a-z0-9_]+)(?:\{([^}]*)\})?`)

// TestNames: the dashboard and the alerts name series that there are, by their labels, and the
// dashboard all of them that say more than a figure of the process.
func TestNames(t *testing.T) {
	rules, err := os.ReadFile(alerts)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(expressions(t), "\n")
	sample := text(t, whole())
	for _, m := range name.FindAllStringSubmatch(shown+"\n"+string(rules), -1) {
		of := m[1]
		for _, part := range []string{"_bucket", "_sum", "_count"} {
			of = strings.TrimSuffix(of, part)
		}
		i := slices.IndexFunc(table, func(s Series) bool { return s.Name == of })
		if i < 0 {
			t.Errorf("there is no series %s", m[1])
			continue
		}
		for label, value := range labels(m[2]) {
			switch {
			case label == "crawl":
			case label != table[i].Label:
				t.Errorf("%s has no label %s", m[1], label)
			case label == "kind": // the page of error kinds lists them
			default:
				for one := range strings.SplitSeq(value, "|") {
					if !strings.Contains(sample, fmt.Sprintf(`%s{crawl="example.org.weft",%s=%q}`, of, label, one)) {
						t.Errorf("%s has no %s %s", m[1], label, one)
					}
				}
			}
		}
	}
	for _, s := range table {
		if !strings.Contains(shown, s.Name) && !slices.Contains([]string{"weft_build_info", "weft_state", "weft_failed_urls", "weft_new_urls_total",
			"weft_commit_running_seconds", "weft_commit_last_timestamp_seconds", "weft_commit_failed", "weft_disk_size_bytes", "weft_loop_turns_total",
			"weft_loop_tasks", "weft_loop_descriptors", "weft_browser_starts_total", "weft_cluster_outbox_bytes", "weft_traces_total", "weft_traces_waiting", "process_start_time_seconds", "go_goroutines"}, s.Name) {
			t.Errorf("the dashboard does not show %s", s.Name)
		}
	}
}

// labels returns the matchers within braces.
func labels(text string) map[string]string {
	all := make(map[string]string)
	for _, m := range regexp.MustCompile(`(\w+)(?:=~?|!~|!=)"([^"]*)"`).FindAllStringSubmatch(text, -1) {
		all[m[1]] = m[2]
	}
	return all
}

// TestRules: promtool accepts the alerts and each query of the dashboard, and finds that the alerts
// tell crawls in trouble from others.
func TestRules(t *testing.T) {
	promtool(t, "", "check", "rules", alerts)
	var b strings.Builder
	b.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, expr := range expressions(t) {
		expr = strings.NewReplacer("$__rate_interval", "1m", "$crawl", ".*").Replace(expr)
		quoted, err := json.Marshal(expr) // as YAML has it, too
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "      - record: query:%d\n        expr: %s\n", i, quoted)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
	promtool(t, "", "test", "rules", "testdata/alerts.yml")
}
