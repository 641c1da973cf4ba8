// Package faults_test crawls sites whose pages need a browser, with the command, while pages attack
// it, browsers die, and the command is killed.
package faults_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

func TestMain(m *testing.M) { wefttest.Main(m, 6) }
