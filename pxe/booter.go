// Package pxe is the boot service's contract: what a machine that asks for an
// address or a boot file looks like (Client), the one question boot asks of
// whoever knows the machines (Booter), and where addresses are remembered
// (Leases). The protocols live below it: dhcp, tftp, httpboot, ipxe.
//
// pxe knows nothing of nodes, states or power: it must not import the
// conductor, and it keeps no policy of its own.
package pxe

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Firmware is the program on the machine that speaks to us, read from DHCP
// options 60, 77 and 93 (RFC 2132, RFC 3004, RFC 4578).
type Firmware string

// The kinds of firmware. System is anything that is not a boot ROM: the agent's or the
// installed operating system's DHCP client.
const (
	System   Firmware = "system"
	BIOS     Firmware = "bios"
	UEFI     Firmware = "uefi"
	UEFIHTTP Firmware = "uefi-http"
	IPXE     Firmware = "ipxe"
)

// Stage is a point on the way from power-on to a running ramdisk, in order.
type Stage string

// The boot stages the boot service can see.
const (
	StageOffer   Stage = "dhcp offer"
	StageAck     Stage = "dhcp ack"
	StageTFTP    Stage = "tftp boot file"
	StageHTTP    Stage = "http boot file"
	StageScript  Stage = "ipxe script"
	StageKernel  Stage = "kernel"
	StageRamdisk Stage = "ramdisk"
	StageNone    Stage = "no boot loader for it" // the machine is to boot, and there is no loader of its architecture
	StageFailed  Stage = "boot failed"           // iPXE could not load or start what it was told to
)

// Client is a machine as the wire shows it.
type Client struct {
	MAC      net.HardwareAddr
	Arch     uint16 // DHCP option 93, RFC 4578 section 2.1: 0 BIOS, 7 and 9 x86-64 UEFI, 16 x86-64 UEFI HTTP
	Firmware Firmware
	IP       netip.Addr // the address it has or was offered; zero when unknown
	Detail   string     // what was asked for: a file name, a vendor class; for people
	Lent     time.Time  // when it was last given IP; zero when that is not known
	Script   bool       // it asks for its boot script, at an address that is its own
	Files    bool       // it asks for its boot script, kernel or ramdisk: only then is it found out where these are
}

// Action is what a machine gets.
type Action int

// The actions. The zero value ignores the machine, so a forgotten answer is
// a silent one.
const (
	Ignore  Action = iota // no DHCP answer at all: not ours
	Address               // an address, but nothing to boot: the firmware goes on to its next device
	Ramdisk               // an address, a boot loader, then Kernel and Initrd
	Image                 // an address, a boot loader, then the ISO or disk image at ImageURL, read as it is needed
)

// Boots reports whether a machine gets a boot loader.
func (a Action) Boots() bool { return a == Ramdisk || a == Image }

// Boot is the answer to one Client.
type Boot struct {
	Action  Action
	Kernel  string // absolute local path, or an http(s) URL; that only in the answer to a Client with Files
	Initrd  string // the same
	Cmdline string // kernel command line, without initrd=; whole only in the answer to a Client with Script

	// Overlay is a cpio archive (newc) of files for this machine's ramdisk, a multiple of 4
	// bytes long; "" for none. The kernel unpacks it before Initrd.
	Overlay string

	ImageURL string // http(s) URL of what Image boots, as Kernel; its server must answer Range

	Stranger bool // nobody has enrolled the machine: it must take no address from one that somebody has

	// Owner is the project that owns the machine, "" for none: one project must not take every address of a pool.
	Owner string

	Why Reason // of Ignore and Address: why the machine boots nothing
}

// Booter is the one question boot asks. Boot is called several times in one
// boot (DHCP, script, kernel, ramdisk) and must be quick. It is free of side
// effects but for a script: what makes that one the machine's own is on record
// before it is answered. Reached reports progress and must not block. Both are safe for
// concurrent use.
type Booter interface {
	Boot(ctx context.Context, c Client) (Boot, error)
	Reached(ctx context.Context, c Client, s Stage)
}

// Lease binds an address of a subnet to a MAC. A Static lease is a reservation: it never
// expires and its address is given to nobody else of that subnet.
type Lease struct {
	MAC     net.HardwareAddr
	Subnet  string // its name; "" where the address belongs to one subnet alone
	IP      netip.Addr
	Static  bool
	Expires time.Time
}

// Decline is an address that a machine was lent and found in use by another: it is not offered until then.
type Decline struct {
	MAC      net.HardwareAddr
	Subnet   string // as a lease has it
	IP       netip.Addr
	Stranger bool // the machine was not enrolled
	Until    time.Time
}

// Leases remembers addresses across restarts. Operators reserve addresses there
// at any moment, so what is asked for here rests on books that may be old:
// SaveLease inserts or replaces those of their MACs, all or none, but a lease that is not
// Static never takes the place of a reservation, and an address never stands
// twice in one subnet: both answer an error. EndLease deletes l as long as it is on record as
// it was read, and leaves alone a reservation or a lease renewed since. SaveDecline also
// ends the machine's lease.
type Leases interface {
	Leases(ctx context.Context) ([]Lease, error)
	SaveLease(ctx context.Context, leases ...Lease) error
	EndLease(ctx context.Context, l Lease) error
	Declines(ctx context.Context) ([]Decline, error)
	SaveDecline(ctx context.Context, d Decline) error
}
