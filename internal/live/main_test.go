package live

import (
	"testing"

	"github.com/weftcrawl/weft/internal/crawltest"
)

func TestMain(m *testing.M) { crawltest.Main(m) }
