// Package bmc drives board management controllers: power, boot device, boot mode and their description of the machine.
// Each hardware type has a driver in a package of its own beneath this one; bmctest is the suite that all drivers pass.
//
// It must not know states or plans, and it stores nothing. Its callers decide each action; a node is read for its
// driver_info.
package bmc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/fake"
	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/bmc/manual"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
)

// Driver talks to the BMCs of one hardware type. Calls end by their context's
// deadline. An error with a method Permanent() bool that answers true is not
// worth a retry; a *node.Refusal is the caller's fault.
type Driver interface {
	// Validate reports settings of driver_info that are missing or wrong. It asks no BMC.
	Validate(n node.Node) error
	// PowerState answers node.PowerOn or PowerOff.
	PowerState(ctx context.Context, n node.Node) (node.PowerState, error)
	// SetPower takes PowerOn, PowerOff, SoftPowerOff, Rebooting and
	// SoftRebooting, and returns once the BMC has accepted it.
	SetPower(ctx context.Context, n node.Node, target node.PowerState) error
	// BootDevice answers Ironic's name of the device (pxe, disk, cdrom, bios,
	// uefihttp), "" for none, and whether it is for more than the next boot.
	BootDevice(ctx context.Context, n node.Node) (device string, persistent bool, err error)
	SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error
	// SupportedBootDevices lists the devices that Ironic's driver of this type offers.
	SupportedBootDevices(n node.Node) []string
	// BootMode answers "uefi" or "bios", "" when the BMC does not say.
	BootMode(ctx context.Context, n node.Node) (string, error)
	SetBootMode(ctx context.Context, n node.Node, mode string) error
	// System returns the BMC's description of the machine.
	System(ctx context.Context, n node.Node) (node.System, error)
	// Close ends the connections and sessions that the driver keeps open.
	Close() error
}

// Options are shared by the drivers of all hardware types.
type Options struct {
	Log      *slog.Logger
	CAs      cacert.Folder    // that nodes may name files of
	TLS      tlspolicy.Policy // of Redfish BMCs, where their nodes have none
	Patience node.Patience    // with BMCs; zero times are the drivers' defaults

	// Dialer makes the connections to BMCs, and may refuse addresses. Nil dials every address that a node names, which
	// is for tests.
	Dialer dial.Dialer

	SendRaw     bool // ipmi: send_raw may be used
	VerifyClock bool // redfish: verify_bmc_clock is done when a node is verified
	// Sessions remember sessions at BMCs for the next leader of a cluster. Nil: they are not kept.
	Sessions redfish.Sessions

	// Called is called after every call to a BMC by Redfish or IPMI, with its duration. It must not wait. May be nil.
	Called func(driver string, took time.Duration, err error)
}

// calledBy binds Called to one driver's name.
func (o Options) calledBy(driver string) func(time.Duration, error) {
	if o.Called == nil {
		return nil
	}
	return func(took time.Duration, err error) { o.Called(driver, took, err) }
}

// makers has every hardware type there is.
var makers = map[string]func(o Options) Driver{
	"fake-hardware": func(Options) Driver { return fake.New(fake.Script{}) },
	"redfish": func(o Options) Driver {
		return redfish.New(redfish.Options{Log: o.Log, CAs: o.CAs, Dialer: o.Dialer,
			ConnectTimeout: o.Patience.Connect, RequestTimeout: o.Patience.Request, Called: o.calledBy("redfish"),
			Sessions: o.Sessions, TLS: o.TLS, VerifyClock: o.VerifyClock,
			SOLConsole: ipmi.New(ipmi.Options{Log: o.Log, Dialer: o.Dialer}).OpenConsole})
	},
	"manual-management": func(Options) Driver { return manual.New() },
	"ipmi": func(o Options) Driver {
		return ipmi.New(ipmi.Options{Log: o.Log, Dialer: o.Dialer, Called: o.calledBy("ipmi"), SendRaw: o.SendRaw})
	},
}

// Set is the drivers of the enabled hardware types.
type Set struct {
	types   map[string]Driver
	drivers map[string]Driver // by base type: vendors' types share redfish's driver and its sessions
}

// New makes the drivers of the named hardware types.
func New(names []string, o Options) (*Set, error) {
	s := &Set{types: map[string]Driver{}, drivers: map[string]Driver{}}
	for _, name := range names {
		base := node.BaseType(name)
		newDriver, ok := makers[base]
		if !ok {
			return nil, errors.Join(fmt.Errorf("hardware type %q is not known: choose from %s",
				name, strings.Join(Names(), ", ")), s.Close())
		}
		if s.drivers[base] == nil {
			s.drivers[base] = newDriver(o)
		}
		s.types[name] = s.drivers[base]
	}
	return s, nil
}

// Names are all hardware types there are, sorted.
func Names() []string {
	return slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(makers)), node.VendorTypes())))
}

// Types returns the drivers by hardware type.
func (s *Set) Types() map[string]Driver { return s.types }

// Close closes all drivers.
func (s *Set) Close() error {
	var errs []error
	for _, d := range s.drivers {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}
