// Package suitetest checks the programs that a suite needs, and stretches time limits on a busy machine.
//
// It must not install anything.
package suitetest

import (
	"testing"

	"github.com/ferrite-metal/ferrite/lab/suites"
)

// Need ends a test at its beginning where a program of its suite is missing, which make would have installed. The suite
// is a target of make; "" stands for one without packages of its own.
func Need(t testing.TB, suite string) {
	t.Helper()
	if err := suites.Check(suite); err != nil {
		t.Fatal(err)
	}
}
