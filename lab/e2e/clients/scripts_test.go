//go:build clients

package clients

import (
	"path/filepath"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// TestClientsBaremetal: every verb and noun of Ironic's CLI.
func TestClientsBaremetal(t *testing.T) {
	suitetest.Need(t, "")
	files, err := filepath.Glob("testdata/baremetal/*.txt")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d scripts, expected 8 or more: %v", len(files), err)
	}
	runScripts(t, files...)
}
