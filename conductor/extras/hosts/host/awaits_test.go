package host

import (
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// A host that is being deleted reports the work that it waits for, and its end.
func TestAwaits(t *testing.T) {
	at := testNow.Add(-time.Hour)
	booting := func(n *node.Node) {
		n.ProvisionUpdatedAt, n.Deadline = &at, testNow.Add(30*time.Minute)
		n.Run = &node.Run{Waiting: "the first heartbeat of the ramdisk's agent"}
	}
	for name, tc := range map[string]struct {
		facts Facts
		want  string
	}{
		"nothing": {newFacts(hostapi.StateDeprovisioning, node.Active, deleted), ""},
		"just begun": {newFacts(hostapi.StateDeprovisioning, node.Cleaning, deleted, nodeIs(func(n *node.Node) {
			just := testNow.Add(-time.Second)
			n.ProvisionUpdatedAt = &just
		})), ""},
		"nobody's wish": {newFacts(hostapi.StateDeprovisioning, node.CleanWait, nodeIs(booting)), ""},
		"to shut down": {newFacts(hostapi.StateDeleting, node.Active, deleted, nodeIs(shuttingDown)),
			"waits for node default~a to shut down since 2026-01-01 11:59:00 UTC"},
		"power": {newFacts(hostapi.StateDeprovisioning, node.Active, deleted,
			nodeIs(func(n *node.Node) { n.TargetPowerState, n.UpdatedAt = node.PowerOff, &at })),
			`waits for node default~a to be "power off" since 2026-01-01 11:00:00 UTC`},
		"a drive": {newFacts(hostapi.StateProvisioned, node.Active, deleted,
			nodeIs(func(n *node.Node) { n.Chore, n.UpdatedAt = "management.attach_virtual_media", &at })),
			"waits for node default~a, whose BMC is at management.attach_virtual_media since 2026-01-01 11:00:00 UTC"},
		"cleaning": {newFacts(hostapi.StateDeprovisioning, node.Cleaning, deleted,
			nodeIs(func(n *node.Node) { n.ProvisionUpdatedAt = &at })),
			`waits for node default~a, which is "cleaning" since 2026-01-01 11:00:00 UTC`},
		"a ramdisk": {newFacts(hostapi.StateDeprovisioning, node.CleanWait, deleted, nodeIs(booting)),
			`waits for node default~a, which is "clean wait" since 2026-01-01 11:00:00 UTC, for the first heartbeat of the ramdisk's agent; ` +
				"that fails if it does not report again by 2026-01-01 12:30:00 UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			d := begin(tc.facts)
			d.decide()
			d.setConditions()
			if got := d.condition(hostapi.ConditionProgressing).Message; got != tc.want {
				t.Errorf("got\n\t%s\nwant\n\t%s", got, tc.want)
			}
		})
	}
}
