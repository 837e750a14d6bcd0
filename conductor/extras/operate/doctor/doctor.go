// Package doctor looks at the host of a conductor: data folder, disk, ports, API, network interface, other DHCP
// servers, ramdisk, certificate, clock and BMCs. Each look has findings, and each fault comes with its remedy.
//
// It changes nothing, and knows no settings: Host has the few that it needs.
package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// Grades of a finding.
const (
	GradeGood = "ok"
	GradeWarn = "warn"
	GradeBad  = "bad"
)

// Finding is one result of a look at a host.
type Finding struct {
	Check string `json:"check"`
	Grade string `json:"grade"`
	Found string `json:"found"`
	Try   string `json:"try,omitempty"` // the remedy
}

func good(format string, args ...any) Finding {
	return Finding{Grade: GradeGood, Found: fmt.Sprintf(format, args...)}
}

func warn(try, format string, args ...any) Finding {
	return Finding{Grade: GradeWarn, Found: fmt.Sprintf(format, args...), Try: try}
}

func bad(try, format string, args ...any) Finding {
	return Finding{Grade: GradeBad, Found: fmt.Sprintf(format, args...), Try: try}
}

// Host is a host that is looked at, by the settings of its conductor.
type Host struct {
	Folder     datafolder.Folder
	Running    bool   // a conductor has the folder
	APIAddress string // host:port
	APIURL     string
	TLSCert    string // file; "" for plain HTTP
	TLSKey     string
	Boot       *Boot // nil without the boot service
	BMCs       func() (BMCs, error)
	Now        func() time.Time
}

// Boot is the boot service of a host.
type Boot struct {
	Interface      string
	Address        func() (netip.Addr, netip.Prefix, error) // on the interface
	HTTPPort       int
	OtherDHCP      bool // another server gives addresses, and is meant to
	Kernel, Initrd string
	LoaderDir      string
}

// BMCs are the drivers of BMCs, by their names.
type BMCs struct {
	Drivers map[string]BMC
	Close   func() error
}

// BMC is a driver.
type BMC interface {
	Validate(n node.Node) error
	PowerState(ctx context.Context, n node.Node) (node.PowerState, error)
}

// looks lists all looks, in order. A look at a feature that is switched off has no findings.
var looks = []struct {
	name string
	look func(ctx context.Context, h Host) []Finding
}{
	{"data folder", lookAtData}, {"disk", lookAtDisk}, {"ports", lookAtPorts}, {"API", lookAtAPI},
	{"interface", lookAtInterface}, {"other DHCP", lookForDHCP}, {"ramdisk", lookAtRamdisk},
	{"certificate", lookAtCertificate}, {"clock", lookAtClock}, {"BMCs", lookAtBMCs},
}

// Look looks at a host.
func (h Host) Look(ctx context.Context) (all []Finding) {
	for _, l := range looks {
		for _, f := range l.look(ctx, h) {
			f.Check = l.name
			all = append(all, f)
		}
	}
	return all
}
