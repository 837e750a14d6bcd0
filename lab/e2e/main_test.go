//go:build e2e || bootways || matrix || interop || neutron || personalities || takeover || peers

package e2e

import (
	"fmt"
	"os"
	"testing"
)

// TestMain prints the figures of the measured cases at the end of a run that went well.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range suites.made {
		s.tidy()
		s.cancel()
		if code != 0 {
			continue
		}
		for _, line := range s.figures.lines() {
			fmt.Println(line)
		}
	}
	os.Exit(code)
}
