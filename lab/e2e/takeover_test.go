//go:build takeover

package e2e

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/store/postgrestest"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// TestTakeoverMachines: machines with a conductor that is killed at every boot stage and at every step of a deploy.
func TestTakeoverMachines(t *testing.T) {
	run(t, profileLab, testCase{"takeover", 14 * time.Minute, takenOver(postgrestest.New(t).URL(t))})
}

// TestTakeoverDHCP: Debian's perfdhcp while the leader is killed.
func TestTakeoverDHCP(t *testing.T) {
	suitetest.Need(t, "takeover-test")
	run(t, profileLab, testCase{"perfdhcp", 4 * time.Minute, lentOver(postgrestest.New(t).URL(t))})
}

// TestTakeoverWatch: Debian's kubectl watches while the leader is killed.
func TestTakeoverWatch(t *testing.T) {
	run(t, profileLab, testCase{"kubectl", 4 * time.Minute, watchedOver(postgrestest.New(t).URL(t))})
}
