//go:build e2e

package scale

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// top shows where a conductor's time went, once it has ended its profile.
func (c *cluster) top(m *member) {
	c.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(m.Profile); err == nil {
			break
		}
		if time.Now().After(end) {
			c.t.Fatalf("%s wrote no profile\n%s", m.Name, m.Tail())
		}
	}
	for _, by := range []string{"-flat", "-cum"} {
		args := []string{"tool", "pprof", "-top", by, "-nodecount", "10"}
		if by == "-cum" { // our callers are of no interest
			args = append(args, "-show", "ferrite/conductor", "-nodecount", "25")
		}
		out, err := exec.Command("go", append(args, m.Profile)...).CombinedOutput() //nolint:gosec // of this test
		if err != nil {
			c.t.Errorf("go tool pprof: %v: %s", err, out)
			return
		}
		for line := range strings.Lines(string(out)) {
			fmt.Print("profile: ", line)
		}
	}
	if err := os.Remove(m.Profile); err != nil {
		c.t.Error(err)
	}
}
