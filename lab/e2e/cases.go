package main

import (
	"context"
	"time"
)

// testCase is one scenario from begin to end. Its error says which stage failed and why.
type testCase struct {
	name     string
	why      string
	measured bool // runs alone: its times are figures
	limit    time.Duration
	run      func(ctx context.Context, b *bed) error
}

// cases are all of them, in the order they run: the longest first, so that none is
// left alone in the end.
var cases = []testCase{
	{"uefi", "a UEFI machine from enroll to its own OS, twice: raw, then qcow2 after an undeploy", true, 8 * time.Minute, uefiLife},
	{"fast-track", "the same once, the agent kept running between cleaning and deploy", true, 6 * time.Minute, fastTrackLife},
	{"bios", "a BIOS machine from enroll to its own OS, then rebuilt with another image", true, 6 * time.Minute, biosLife},
	{"bad-image", "404, cut short, wrong sum, too large, backing file: failed with the reason; a power cut; then a good one from its last mirror", false, 12 * time.Minute, badImages},
	{"by-hand", "cleaning by hand: steps of agent, BMC and child nodes with reboots between, an abort, a step nobody has", false, 8 * time.Minute, cleanedByHand},
	{"formats", "gz from a container registry, compressed qcow2 from a file of the conductor's; NVMe and SCSI; two NICs, one wired", false, 12 * time.Minute, formats},
	{"hosts", "two machines by Metal3's documents: applied from one file, rebooted, detached, provisioned anew, taken back, deleted", false, 12 * time.Minute, documented},
	{"live", "machines that boot their workload from the network: kernel and ramdisk, and an ISO", false, 6 * time.Minute, live},
	{"erase", "disks of four kinds full of data, erased by hand: each by its own method, nothing is left, and the signed report says so", false, 8 * time.Minute, erased},
	{"kill", "kill -9 of the conductor in the middle of cleaning, and of writing", false, 10 * time.Minute, killed},
	{"secure", "a conductor behind TLS and passwords, known to the ramdisk by its pins; its certificate is replaced", false, 6 * time.Minute, secured},
	{"bad-bmc", "wrong password, hanging, garbage, dropped: back to enroll with the reason, BMC not hammered", false, 8 * time.Minute, badBMC},
	{"rescue", "an adopted machine in rescue: SSH by password, the ramdisk's log, and back to its OS", false, 6 * time.Minute, rescued},
	{"service", "an active machine wiped, held and written again by service steps", false, 6 * time.Minute, serviced},
	{"silence", "a machine that never calls times out with the last boot stage seen", false, 6 * time.Minute, silence},
	{"partition", "an image of a root partition: disk divided, EFI files copied, booted; rebuilt with another, the ephemeral partition kept", false, 8 * time.Minute, partitioned},
	{"discovery", "a machine nobody has enrolled is switched on, turns up in enroll, and becomes manageable", false, 6 * time.Minute, discovered},
	{"ovmf-pxe", "the firmware's own PXE and our TFTP", false, 6 * time.Minute, ovmfPXE},
	{"uefi-http", "UEFI HTTP boot, no TFTP at all", false, 6 * time.Minute, uefiHTTP},
}

// interop are the cases of -interop: our agent among strangers.
var interop = []testCase{
	{"ironic", "a UEFI machine from enroll to its own OS, into rescue and back, and to undeployed, by OpenStack Ironic with our ramdisk", true, 8 * time.Minute, ironicLife},
}
