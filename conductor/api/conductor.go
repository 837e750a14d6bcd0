package api

import (
	"context"
	"net/netip"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Conductor does the work behind the resources: each names the few calls it needs. A
// ref is a UUID or a name. A fault of the client comes back as a *node.Refusal.
type Conductor interface {
	catalogs
	accessConductor
	biosConductor
	conductorConductor
	confirmConductor
	consoleConductor
	driverConductor
	eraseReportConductor
	statusConductor
	firmwareConductor
	firmwareModeConductor
	indicatorConductor
	holdConductor
	importConductor
	leaseConductor
	managementConductor
	nodeConductor
	portConductor
	raidConductor
	recordConductor
	rootDeviceConductor
	shardConductor
	stateConductor
	stepConductor
	sensorConductor
	traitConductor
	vendorConductor
	vifConductor
	mediaConductor
}

// catalogs has the records that operators keep beside nodes.
type catalogs interface{ Catalogs() engine.Catalogs }

// Boot is the part of the boot service that the API needs. The service honours reservations.
type Boot interface {
	// Reservable finds the subnet in which ip is to be reserved, by its name or by the address. The error is the reason
	// why a reservation of ip could never be honoured.
	Reservable(subnet string, ip netip.Addr) (name string, err error)
	// Reload takes over the leases on record.
	Reload(ctx context.Context) error
}

// BootWatch shows the requests on the boot network.
type BootWatch interface {
	// Stream gives it to emit in batches, and ends with ctx or with the first error of that.
	Stream(ctx context.Context, q nodeapi.BootQuery, emit func([]nodeapi.BootLine) error) error
	// Servers lists the other DHCP servers on the boot network.
	Servers() []nodeapi.BootServer
}

// Logs has the logs of machines. Stream calls emit with pieces, and ends with ctx or with the first error of emit.
type Logs interface {
	Stream(ctx context.Context, node string, q nodeapi.LogQuery, emit func([]byte) error) error
}
