// Package commands_test runs the commands that hand out what is in a job, an archive or a page, and
// the crawls that they read.
package commands_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

func TestMain(m *testing.M) { wefttest.Main(m, 6) }
