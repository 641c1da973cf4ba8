package sqlitefile

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
)

// sqlite3 has SQLite do commands with a file, and returns what it prints.
func sqlite3(t *testing.T, path string, commands ...string) string {
	t.Helper()
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("sqlite3 is not installed")
	}
	cmd := exec.CommandContext(t.Context(), program, "-bail", path)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v\n%.2000s", err, out)
	}
	return string(out)
}

// data is a table to write.
type data struct {
	name    string
	columns []Column
	indexes []Index
	rows    [][]any
}

// written returns the path of a database of tables.
func written(t *testing.T, tables ...data) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.sqlite")
	if err := write(t.Context(), path, tables...); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(ctx context.Context, path string, tables ...data) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := New(f, filepath.Dir(path))
	for _, d := range tables {
		table, err := w.Table(d.name, d.columns, d.indexes...)
		if err != nil {
			return err
		}
		defer table.Discard()
		for _, row := range d.rows {
			if err := table.Add(row); err != nil {
				return err
			}
		}
		if err := table.Close(ctx); err != nil {
			return err
		}
	}
	w.View("seen", "SELECT 1 AS one")
	return w.Close()
}

// theirs returns the path of a database that SQLite has made of the same tables.
func theirs(t *testing.T, tables ...data) string {
	t.Helper()
	var sql, indexes strings.Builder
	sql.WriteString("BEGIN;\n")
	for _, d := range tables {
		var columns []string
		for _, c := range d.columns {
			columns = append(columns, quoted(c.Name)+" "+c.Type)
		}
		fmt.Fprintf(&sql, "CREATE TABLE %s (%s);\n", d.name, strings.Join(columns, ", "))
		for _, row := range d.rows {
			var values []string
			for _, v := range row {
				values = append(values, literal(v))
			}
			fmt.Fprintf(&sql, "INSERT INTO %s VALUES (%s);\n", d.name, strings.Join(values, ","))
		}
		for _, x := range d.indexes {
			unique := map[bool]string{true: "UNIQUE "}[x.Unique]
			fmt.Fprintf(&indexes, "CREATE %sINDEX %s ON %s (%s);\n", unique, x.Name, d.name, quoted(x.Column))
		}
	}
	path := filepath.Join(t.TempDir(), "theirs.sqlite")
	sqlite3(t, path, sql.String(), indexes.String(), "CREATE VIEW seen AS SELECT 1 AS one;", "COMMIT;")
	return path
}

// literal returns a value as SQL has it.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return fmt.Sprintf("CAST(x'%x' AS TEXT)", v)
	case bool:
		return fmt.Sprint(oneIf(v))
	case float64:
		if math.IsNaN(v) {
			return "NULL"
		}
		if math.IsInf(v, 0) {
			return fmt.Sprintf("%.0f9e999", math.Copysign(1, v))
		}
		return fmt.Sprintf("%.17e", v)
	case int64:
		if v == math.MinInt64 {
			return "-9223372036854775807-1"
		}
	}
	return fmt.Sprint(v)
}

// same fails unless SQLite finds a database whole, and the same in it as in its own.
func same(t *testing.T, tables ...data) {
	t.Helper()
	ours := written(t, tables...)
	if got := sqlite3(t, ours, "PRAGMA integrity_check;", "PRAGMA schema_version;"); got != "ok\n1\n" {
		t.Fatalf("integrity_check: %.2000s", got)
	}
	content := []string{".dump"}
	for _, d := range tables { // a dump of a text ends at its first NUL
		for _, c := range d.columns {
			content = append(content, fmt.Sprintf("SELECT rowid, typeof(%[1]s), hex(%[1]s) FROM %[2]s;", quoted(c.Name), d.name))
		}
		for _, x := range d.indexes {
			content = append(content, fmt.Sprintf("SELECT rowid, typeof(%[1]s), hex(%[1]s) FROM %[2]s INDEXED BY %[3]s WHERE %[1]s IS NULL OR %[1]s IS NOT NULL ORDER BY %[1]s, rowid;",
				quoted(x.Column), d.name, x.Name))
		}
	}
	if got, want := sqlite3(t, ours, content...), sqlite3(t, theirs(t, tables...), content...); got != want {
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		t.Errorf("differs at byte %d: %.200q, expected %.200q", at, got[at:], want[at:])
	}
	// Another program can go on with the file.
	var changes []string
	for _, d := range tables {
		changes = append(changes, fmt.Sprintf("DELETE FROM %[1]s WHERE rowid %% 3 = 0; INSERT INTO %[1]s DEFAULT VALUES;", d.name))
	}
	if got := sqlite3(t, ours, append(changes, "PRAGMA integrity_check;", "VACUUM;", "PRAGMA integrity_check;")...); got != "ok\nok\n" {
		t.Errorf("after changes: %.2000s", got)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	texts := [][]any{}
	for _, s := range []any{nil, nil, "", "a", "b", "ab", "a\x00", "a\x00b", "\x00", "\x00\x01", "a\x01", "ü 👍", "\xff\xfe", "'quoted\"", "line\nline\r\n", "12", "1e3", "Ab", "aB"} {
		texts = append(texts, []any{s})
	}
	integers := [][]any{{nil}, {false}, {true}, {int64(math.MinInt64)}}
	for bits := range 63 {
		for _, v := range []int64{1<<bits - 1, 1 << bits, -1 << bits, -1<<bits - 1} {
			integers = append(integers, []any{v})
		}
	}
	numbers := [][]any{{nil}}
	for _, v := range []float64{0, 1, -1, 0.5, 1e300, -1e-300, math.Pi, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 60} {
		numbers = append(numbers, []any{v})
	}
	same(t,
		data{"texts", []Column{{"text", "TEXT"}}, []Index{{"texts_text", "text", true}}, texts},
		data{"integers", []Column{{"n", "INTEGER"}}, []Index{{"integers_n", "n", false}}, integers},
		data{"numbers", []Column{{"x", "REAL"}}, nil, numbers},
		data{"none", []Column{{"from", "TEXT"}, {`say "to"`, "INTEGER"}}, []Index{{"none_from", "from", true}, {"none_to", `say "to"`, false}}, nil},
		data{"mixed", []Column{{"a", "TEXT"}, {"b", "INTEGER"}, {"c", "REAL"}}, []Index{{"mixed_a", "a", false}, {"mixed_b", "b", false}},
			[][]any{{"x", int64(1), 1.5}, {nil, nil, nil}, {"x", int64(-1), nil}, {"", int64(0), math.Copysign(0, -1)}, {"x", true, 2.0}}},
	)
}

// TestLengths: texts end everywhere on their pages, and on one to three more.
func TestLengths(t *testing.T) {
	t.Parallel()
	var rows [][]any
	for _, around := range []int{0, 60, 127, 480, 512, 1000, 2048, 4000, 4060, 4096, 8150, 8192, 12280, 16384} {
		for n := max(0, around-20); n < around+60; n++ {
			rows = append(rows, []any{strings.Repeat("x", n), int64(n)})
		}
	}
	rows = append(rows, []any{strings.Repeat("ä", 400_000), int64(-1)})
	same(t, data{"lengths", []Column{{"text", "TEXT"}, {"n", "INTEGER"}}, []Index{{"lengths_text", "text", false}, {"lengths_n", "n", false}}, rows})
}

// TestSplits: pages of each level are full, or about to be, at the end of a table.
func TestSplits(t *testing.T) {
	t.Parallel()
	var all []data
	for n := 1; n <= long.Or(110, 700); n++ {
		d := data{fmt.Sprintf("t%d", n), []Column{{"text", "TEXT"}}, []Index{{fmt.Sprintf("x%d", n), "text", true}}, nil}
		for i := range n { // four entries to a page of the index
			d.rows = append(d.rows, []any{fmt.Sprintf("%04d%s", i*7919%n, strings.Repeat("y", 980))})
		}
		all = append(all, d)
	}
	same(t, all...)
}

// TestSchemas: the schema is on page 1, on page 1 and others, and in two levels; a statement may
// take pages of its own.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, tables := range []int{1, 30, 40, 50, 300} {
		var all []data
		for n := range tables {
			all = append(all, data{fmt.Sprintf("t%d", n), []Column{{strings.Repeat("c", 20), "TEXT"}}, nil, [][]any{{"a"}}})
		}
		same(t, all...)
	}
	for length := 3850; length < 3900; length++ { // page 1 has less room than others
		path := written(t, data{"t", []Column{{strings.Repeat("c", length), "TEXT"}}, nil, [][]any{{"a"}}})
		if got := sqlite3(t, path, "PRAGMA integrity_check;", "SELECT * FROM t;"); got != "ok\na\n" {
			t.Errorf("a name of %d letters: %s", length, got)
		}
	}
}

func TestManyRows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	d := data{"pages", []Column{{"url", "TEXT"}, {"status", "INTEGER"}, {"ms", "REAL"}}, []Index{{"pages_url", "url", true}, {"pages_status", "status", false}}, nil}
	for i := range long.Or(30_000, 3_000_000) {
		d.rows = append(d.rows, []any{fmt.Sprintf("http://%d.example/%x", i%1000, random.Uint64()), int64(200 + random.IntN(300)), random.Float64()})
	}
	path := written(t, d)
	if got := sqlite3(t, path, "PRAGMA integrity_check;", "SELECT count(*) = max(rowid) FROM pages;"); got != "ok\n1\n" {
		t.Error(got)
	}
	for _, at := range []int{0, 1, len(d.rows) / 2, len(d.rows) - 1} {
		if got, want := sqlite3(t, path, "SELECT rowid, status FROM pages WHERE url = "+literal(d.rows[at][0])+";"), fmt.Sprintf("%d|%d\n", at+1, d.rows[at][1]); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// TestLockPage: SQLite locks bytes of the page at 1 GiB, which holds nothing; a chain of pages goes
// around it.
func TestLockPage(t *testing.T) {
	t.Parallel()
	if !long.Enabled() {
		var written pagesAt
		p := newPages(&written)
		p.next = lockPage - 2
		first, err := p.overflow(make([]byte, 4*pageSize))
		if err != nil || first != lockPage-2 || p.out.Flush() != nil {
			t.Fatal(first, err)
		}
		for i, want := range []uint32{lockPage - 1, lockPage + 1, 0, lockPage + 2, lockPage + 3, 0} {
			if got := uint32(written[i*pageSize+1])<<16 | uint32(written[i*pageSize+2])<<8 | uint32(written[i*pageSize+3]); got != want {
				t.Errorf("page %d goes on with %d, expected %d", lockPage-2+i, got, want)
			}
		}
		return
	}
	d := data{"texts", []Column{{"text", "TEXT"}}, nil, nil}
	for range 1200 {
		d.rows = append(d.rows, []any{strings.Repeat("z", 1<<20)})
	}
	if got := sqlite3(t, written(t, d), "PRAGMA integrity_check;", "SELECT sum(length(text)) FROM texts;"); got != "ok\n1258291200\n" {
		t.Error(got)
	}
}

// pagesAt is a file in memory that is written from its second page on.
type pagesAt []byte

func (p *pagesAt) WriteAt(b []byte, at int64) (int, error) {
	*p = append((*p)[:at-pageSize], b...)
	return len(b), nil
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	one := []Column{{"a", "TEXT"}}
	for name, c := range map[string]struct {
		data data
		want string
	}{
		"twice":  {data{"t", one, []Index{{"x", "a", true}}, [][]any{{"1"}, {nil}, {"2"}, {nil}, {"1"}}}, "sqlitefile: two rows have the same t.a"},
		"name":   {data{"t", []Column{{"Straße", ""}, {"a", ""}, {"A", ""}}, nil, nil}, "sqlitefile: duplicate column name: A"},
		"type":   {data{"t", one, nil, [][]any{{bytes.NewReader}}}, "sqlitefile: a value of type func([]uint8) *bytes.Reader"},
		"number": {data{"t", one, []Index{{"x", "a", true}}, [][]any{{1.5}}}, "table t, row 1, column a: sqlitefile: a value of type float64 in an index"},
	} {
		if err := write(t.Context(), filepath.Join(t.TempDir(), "a"), c.data); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := write(ctx, filepath.Join(t.TempDir(), "a"), data{"t", one, []Index{{"x", "a", true}}, [][]any{{"1"}}}); err != context.Canceled {
		t.Errorf("%v, expected that the context is done", err)
	}
}
