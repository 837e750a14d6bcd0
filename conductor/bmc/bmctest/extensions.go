package bmctest

import (
	"context"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// A driver's optional interfaces are tested where it implements them.

func (l Limits) testSecureBoot(t testing.TB, d bmc.Driver, n node.Node) {
	s, ok := d.(interface {
		SecureBoot(ctx context.Context, n node.Node) (*bool, error)
		SetSecureBoot(ctx context.Context, n node.Node, on bool) error
	})
	if !ok {
		t.Skip("the driver has no secure boot")
	}
	l.setMode(t, d, n, "uefi")
	for _, want := range []bool{true, true, false} {
		check(t, s.SetSecureBoot(t.Context(), n, want))
		if got, err := s.SecureBoot(t.Context(), n); err != nil || got == nil || *got != want {
			t.Errorf("secure boot is %v (%v), want %v", got, err, want)
		}
	}
}

func (l Limits) testNMI(t testing.TB, d bmc.Driver, n node.Node) {
	i, ok := d.(interface {
		InjectNMI(ctx context.Context, n node.Node) error
	})
	if !ok {
		t.Skip("the driver has no NMI")
	}
	refused(t, "an NMI for a machine that is off", i.InjectNMI(t.Context(), n))
	check(t, d.SetPower(t.Context(), n, node.PowerOn))
	l.reaches(t, d, n, node.PowerOn, "switched on")
	check(t, i.InjectNMI(t.Context(), n))
	l.reaches(t, d, n, node.PowerOn, "after an NMI")
}

func testIndicators(t testing.TB, d bmc.Driver, n node.Node) {
	l, ok := d.(interface {
		Indicators(ctx context.Context, n node.Node) ([]node.Indicator, error)
		IndicatorState(ctx context.Context, n node.Node, component, name string) (string, error)
		SetIndicatorState(ctx context.Context, n node.Node, component, name, state string) error
	})
	if !ok {
		t.Skip("the driver has no indicators")
	}
	all, err := l.Indicators(t.Context(), n)
	if err != nil || len(all) == 0 {
		t.Fatalf("indicators are %v (%v), want at least one", all, err)
	}
	for _, i := range all {
		if i.ReadOnly {
			refused(t, "to set a value that is read only", l.SetIndicatorState(t.Context(), n, i.Component, i.Name, i.States[0]))
			continue
		}
		for _, state := range i.States {
			check(t, l.SetIndicatorState(t.Context(), n, i.Component, i.Name, state))
			if got, err := l.IndicatorState(t.Context(), n, i.Component, i.Name); err != nil || got != state {
				t.Errorf("%s@%s is %q (%v), want %q", i.Name, i.Component, got, err, state)
			}
		}
		refused(t, "a state that cannot be set",
			l.SetIndicatorState(t.Context(), n, i.Component, i.Name, node.IndicatorUnknown))
	}
	for _, nobody := range []struct{ component, name string }{{"system", "nobody"}, {"tail", all[0].Name}, {"", ""}} {
		_, err := l.IndicatorState(t.Context(), n, nobody.component, nobody.name)
		refused(t, "an indicator that is not there", err)
		refused(t, "an indicator that is not there",
			l.SetIndicatorState(t.Context(), n, nobody.component, nobody.name, node.IndicatorOn))
	}
}

func testVendor(t testing.TB, d bmc.Driver, n node.Node) {
	v, ok := d.(interface {
		VendorMethods() []node.VendorMethod
		CheckVendor(ctx context.Context, n node.Node, method string, args map[string]any) error
		CallVendor(ctx context.Context, n node.Node, method string, args map[string]any) (any, error)
	})
	if !ok {
		t.Skip("the driver has no vendor methods")
	}
	for _, m := range v.VendorMethods() {
		if m.Name == "" || len(m.HTTPMethods) == 0 || m.Description == "" {
			t.Errorf("method %+v does not say what it is", m)
		}
	}
	_, err := v.CallVendor(t.Context(), n, "nobody", nil)
	refused(t, "a method that is not there", err)
	refused(t, "a method that is not there", v.CheckVendor(t.Context(), n, "nobody", nil))
}

func testConsole(t testing.TB, d bmc.Driver, n node.Node) {
	c, ok := d.(interface {
		ValidateConsole(n node.Node) error
		SetConsole(ctx context.Context, n node.Node, on bool) error
		Console(ctx context.Context, n node.Node) (map[string]any, error)
	})
	if !ok {
		t.Skip("the driver has no console")
	}
	check(t, c.ValidateConsole(n))
	for _, on := range []bool{false, true, true, false, false} {
		check(t, c.SetConsole(t.Context(), n, on))
		info, err := c.Console(t.Context(), n)
		check(t, err)
		_, named := info["type"].(string)
		_, placed := info["url"].(string)
		if info == nil || len(info) > 0 && (!named || !placed) {
			t.Errorf("after setting it %v: the console is %v, want type and url, or nothing", on, info)
		}
	}
}
