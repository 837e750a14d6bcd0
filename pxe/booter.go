// Package pxe is the contract of the boot service. Client describes a machine that asks for an address or a boot file.
// Booter decides which machines boot, and their files. Leases keeps addresses across restarts. The protocols live
// below: dhcp, tftp, httpboot, ipxe.
//
// pxe knows nothing of nodes, states or power: it must not import the conductor, and it keeps no policy of its own.
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
	StageFailed  Stage = "boot failed"           // iPXE could not load or start its boot file
)

// Client is a machine as the wire shows it.
type Client struct {
	MAC      net.HardwareAddr
	Arch     uint16 // DHCP option 93, RFC 4578 section 2.1: 0 BIOS, 7 and 9 x86-64 UEFI, 16 x86-64 UEFI HTTP
	Firmware Firmware
	IP       netip.Addr // the address it has or was offered; zero when unknown
	Detail   string     // file name or vendor class of the request, for people
	Lent     time.Time  // when it was last given IP; zero when that is not known
	Script   bool       // it asks for its boot script, at an address that is its own
	Files    bool       // it asks for its boot script, kernel or ramdisk: only then is it found out where these are
}

// Action is the boot service's decision about a machine.
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

	ImageURL string // http(s) URL of the disk that Image boots, as Kernel; its server must answer Range

	Stranger bool // not enrolled: it must not take over an enrolled machine's address

	// Owner is the project that owns the machine, "" for none: one project must not take every address of a pool.
	Owner string

	Why Reason // of Ignore and Address: why the machine boots nothing
}

// Booter decides about machines. Boot is called several times in one boot (DHCP, script, kernel, ramdisk), in any
// order, and must be quick: DHCP allows it three seconds. It has no side effects, with one exception: the one-time
// word of a script is on record before Boot returns. An error means no answer now; the machine asks again. Reached
// reports progress and must not block. Both are safe for concurrent use.
type Booter interface {
	Boot(ctx context.Context, c Client) (Boot, error)
	Reached(ctx context.Context, c Client, s Stage)
}

// Lease binds an address of a subnet to a MAC. A Static lease is a reservation: it never expires, and no other machine
// of that subnet gets its address.
type Lease struct {
	MAC     net.HardwareAddr
	Subnet  string // its name; "" where the address belongs to one subnet alone
	IP      netip.Addr
	Static  bool
	Expires time.Time
}

// Decline is an address that a machine was leased and found in use by another: it is not offered until then.
type Decline struct {
	MAC      net.HardwareAddr
	Subnet   string // as a lease has it
	IP       netip.Addr
	Stranger bool // the machine was not enrolled
	Until    time.Time
}

// Leases keeps addresses across restarts. Operators add reservations at any moment, so the caller's copy may be old.
// Its methods are safe for concurrent use. After a failed SaveLease of several leases the caller saves each by itself.
//
// SaveLease inserts or replaces the leases of their MACs, all or none. It returns an error for a lease that would
// replace a reservation, and for a second lease of one address in a subnet. EndLease deletes l if the record still
// equals l; a reservation, and a lease renewed since, stay. SaveDecline also ends the machine's lease.
type Leases interface {
	Leases(ctx context.Context) ([]Lease, error)
	SaveLease(ctx context.Context, leases ...Lease) error
	EndLease(ctx context.Context, l Lease) error
	Declines(ctx context.Context) ([]Decline, error)
	SaveDecline(ctx context.Context, d Decline) error
}
