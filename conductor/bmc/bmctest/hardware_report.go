package bmctest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// testHardwareReport reads BIOS settings and firmware: everything when both are wanted, and nothing of a part that is
// switched off.
func testHardwareReport(t testing.TB, d bmc.Driver, n node.Node) {
	reporter, ok := d.(interface {
		ReportHardware(ctx context.Context, n node.Node) (node.HardwareReport, error)
	})
	if !ok {
		t.Skip("the driver reports no BIOS settings and no firmware")
	}
	report, err := reporter.ReportHardware(t.Context(), n)
	check(t, err)
	if len(report.BIOS) == 0 || len(report.Firmware) == 0 {
		t.Errorf("reported %+v, want settings and components", report)
	}
	seen := map[string]bool{}
	for _, s := range report.BIOS {
		if s.Name == "" || seen["setting "+s.Name] {
			t.Errorf("setting %+v has no name of its own", s)
		}
		if s.AttributeType == "Password" && s.Value != nil {
			t.Errorf("the value of password %s is reported", s.Name)
		}
		seen["setting "+s.Name] = true
	}
	for _, c := range report.Firmware {
		if c.Component == "" || seen["component "+c.Component] {
			t.Errorf("component %+v has no name of its own", c)
		}
		seen["component "+c.Component] = true
	}
	again, err := reporter.ReportHardware(t.Context(), n)
	if diff := cmp.Diff(report, again); err != nil || diff != "" {
		t.Errorf("reported again: %v (-first +second):\n%s", err, diff)
	}
	n.Interfaces = maps.Clone(n.Interfaces)
	if n.Interfaces == nil {
		n.Interfaces = map[string]string{}
	}
	n.Interfaces["bios"], n.Interfaces["firmware"] = "no-bios", "no-firmware"
	if report, err := reporter.ReportHardware(t.Context(), n); err != nil || report.BIOS != nil || report.Firmware != nil {
		t.Errorf("with both switched off: reported %+v (%v), want nothing", report, err)
	}
}

// testVitals: the power that comes with the health is the power there is.
func (l Limits) testVitals(t testing.TB, d bmc.Driver, n node.Node) {
	m, ok := d.(interface {
		Vitals(ctx context.Context, n node.Node) (node.Vitals, error)
	})
	if !ok {
		t.Skip("the driver reports no health")
	}
	for _, power := range []node.PowerState{node.PowerOff, node.PowerOn, node.PowerOff} {
		check(t, d.SetPower(t.Context(), n, power))
		l.reaches(t, d, n, power, "vitals")
		v, err := m.Vitals(t.Context(), n)
		if err != nil || v.Power != power || !slices.Contains([]string{"", "OK", "Warning", "Critical"}, v.Health) {
			t.Errorf("after %q: vitals are %+v (%v)", power, v, err)
		}
	}
}
