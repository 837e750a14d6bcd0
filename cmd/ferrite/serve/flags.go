package serve

import (
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/conductor/host"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// flags declares every setting with its default.
func flags(f *pflag.FlagSet) {
	apiFlags(f)
	activityFlags(f)
	agentFlags(f)
	erasingFlags(f)
	powerFlags(f)
	bootFlags(f)
}

func apiFlags(f *pflag.FlagSet) {
	f.String("config", "", "YAML `file` with any of these settings (flags beat FERRITE_* variables, which beat the file)")
	f.String("data-dir", defaultDataDir,
		"`folder` of the database and the machines' logs; made if missing, mode 0700, locked while running")
	f.Bool("init", false,
		"after a loss that is meant: begin with an empty database where --data-dir has lost it, and make lost keys anew; "+
			"what is there stays")
	f.String("api-address", "127.0.0.1:6385", "`host:port` of the REST API")
	f.StringSlice("auth", []string{"none"}, "how operators say who they are: none, or basic, token or both")
	f.String("htpasswd-file", "",
		"`file` of passwords (bcrypt) for --auth basic, made by: ferrite user password, or htpasswd -B")
	f.String("users-file", "",
		"`file` of users with their roles, projects and tokens, made by: ferrite user set; without one everybody in "+
			"--htpasswd-file is an admin")
	f.Bool("allow-anybody", false,
		"with --auth none: take orders from anybody who reaches --api-address, although it is not the loopback")
	f.String("tls-cert", "",
		"`file` of the API's certificate, PEM, followed by those that signed it: the API is then https, and agents "+
			"know it by this")
	f.String("tls-key", "", "`file` of its private key, PEM")
	f.StringSlice("hardware-types", []string{"redfish", "ipmi", "fake-hardware"},
		"enabled hardware types: fake-hardware, redfish, ipmi")
	f.StringSlice("bmc-allow", nil,
		"`networks` (10.0.0.1/32) whose BMCs are called although they are loopback, link-local, multicast or this host's "+
			"own addresses")
	f.StringSlice("registry-allow", nil,
		"likewise `networks` of container registries (oci://); no registry is asked through a proxy")
	f.String("ca-folder", "",
		"`folder` on this host whose files and folders of certificates (PEM) nodes may name as redfish_verify_ca and "+
			"agent_verify_ca; without one they give the PEM itself, true or false")
	f.String("host", hostname(), "`name` of this conductor")
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("advertise-url", "", "`URL` under which ramdisks reach the API (default: --boot-address and the API's port)")
}

func activityFlags(f *pflag.FlagSet) {
	d := plan.DefaultSettings()
	f.Bool("fast-track", false, "keep the agent running between activities, which spares boots")
	f.Duration("deploy-timeout", d.DeployTimeout, "silence of a ramdisk after which a deploy fails")
	f.Duration("clean-timeout", d.CleanTimeout, "silence of a ramdisk after which cleaning fails")
	f.Duration("inspect-timeout", d.InspectTimeout, "silence of a ramdisk after which inspection fails")
	f.Duration("rescue-timeout", d.RescueTimeout, "silence of a ramdisk after which a rescue fails")
	f.Duration("service-timeout", d.ServiceTimeout, "silence of a ramdisk after which a service fails")
	f.Duration("power-timeout", d.PowerTimeout, "how long a power change may take")
	f.Duration("step-timeout", d.StepTimeout,
		"how long one step of an agent or a BMC may go without measured progress, however often it is heard of")
	f.Duration("step-limit", d.StepLimit, "how long one step may take in all")
	f.String("deploy-logs-collect", "on_failure",
		"when agents that ship no log by themselves are asked for theirs, to be read by: ferrite node logs; "+
			"on_failure or never")
	f.Duration("heartbeat-timeout", 300*time.Second, "how long agents may be silent; they call two or three times in it")
	f.Bool("enable-bios-bootloader-install", d.BIOSBootloader,
		"let agents run a partition image's own grub-install, as root in the ramdisk, whoever made the image "+
			"(CVE-2026-43003); BIOS machines need it, UEFI ones whose image has no EFI files")
	f.Int("max-concurrent-deploy", d.MaxConcurrentDeploy,
		"nodes that may be deployed at a time before another is refused (503, which clients try again); 0 for any number")
	f.Int("max-concurrent-clean", d.MaxConcurrentClean,
		"likewise nodes that may be deleted or cleaned at a time; provide is never refused")
	f.Int("host-limit", host.DefaultProvisioningLimit,
		"nodes that may be busy at a time before other hosts (BareMetalHost) are delayed; 0 for any number")
}

func agentFlags(f *pflag.FlagSet) {
	f.StringSlice("agent-allow", nil,
		"`networks` (10.0.0.1/32) whose agents are called although they are loopback, link-local, multicast or this host's "+
			"own addresses")
	f.String("agent-ca", "",
		"`file` of certificates (PEM) that agents are believed by, beside this host's authorities, if they announce no "+
			"certificate of their own and their node has no agent_verify_ca")
	f.Bool("agent-require-tls", true,
		"call agents by https alone; false: by http, too, so that tokens, config drives and pull tokens travel in clear")
	f.Bool("agent-callback-path", false, "take agents' callback URLs with a path, as of agents behind a proxy")
}

func erasingFlags(f *pflag.FlagSet) {
	d := plan.DefaultSettings()
	f.Bool("automated-clean", d.AutomatedClean, "clean disks between tenants")
	f.Int("erase-devices-priority", d.EraseDevicesPriority,
		"when automated cleaning erases all that disks hold, verified; 0 for never, Ironic's is 10")
	f.Int("erase-devices-metadata-priority", d.EraseMetadataPriority,
		"when automated cleaning wipes partition tables and file systems' headers; 0 for never")
	f.Bool("continue-if-disk-secure-erase-fails", d.Erasing.ContinueIfSecureEraseFailed,
		"erase a disk by what reaches less of it when its own secure erase has failed")
	f.Bool("enable-nvme-secure-erase", d.Erasing.NVMe, "let NVMe drives sanitize or format themselves")
	f.Bool("enable-ata-secure-erase", d.Erasing.ATA, "let ATA drives erase themselves")
	f.Bool("erase-skip-read-only", d.Erasing.SkipReadOnly, "leave read-only disks as they are, instead of failing")
	f.Int("shred-random-overwrite-iterations", d.Erasing.Iterations,
		"how often a disk is overwritten with random data, where that is how it is erased")
	f.Bool("shred-final-overwrite-with-zeros", d.Erasing.Zeroize, "and with zeroes in the end")
	f.Int("disk-erasure-concurrency", d.Erasing.Concurrency, "how many disks of a machine are erased at a time")
}

func powerFlags(f *pflag.FlagSet) {
	d := plan.DefaultSettings()
	f.Duration("soft-power-off-timeout", d.SoftPowerOffTimeout,
		"how long an operating system may take to shut down or reboot by itself")
	f.Duration("sync-power-state-interval", d.SyncPowerInterval,
		"how often the power state of each node is read; 0 for never")
	f.Int("sync-power-state-workers", 64, "how many power states are read at a time")
	f.Int("power-state-sync-max-retries", d.PowerSyncRetries,
		"tries more that may fail before a node whose power cannot be read, or forced, goes into maintenance")
	f.Duration("power-failure-recovery-interval", d.PowerRecoveryInterval,
		"how often the BMC of such a node is asked whether it can leave maintenance again; 0 for never")
	f.Bool("force-power-state-during-sync", d.ForcePowerState,
		"switch a machine whose power differs from its record, instead of correcting the record")
}

func bootFlags(f *pflag.FlagSet) {
	f.Bool("boot", false, "serve DHCP, TFTP and boot HTTP on --boot-interface")
	f.String("boot-interface", "", "network `interface` the machines boot from")
	f.String("boot-address", "", "this conductor's `address/prefix` on it (default: read from the interface)")
	f.String("boot-pool", "", "`first-last` addresses to give to machines (default: the upper half of the subnet)")
	f.String("boot-router", "", "default `router` of the machines (default: none)")
	f.StringSlice("boot-dns", nil, "name servers of the machines")
	f.Duration("boot-lease", dhcp.DefaultLease, "how long an address is given")
	f.Bool("other-dhcp", false,
		"another DHCP server gives machines addresses too: which address a machine calls from proves nothing then, and "+
			"only the one-time word of its boot is asked for")
	f.String("loader-dir", bootserver.DefaultLoaderDir, "`folder` of iPXE's binaries (Debian package ipxe)")
	f.String("ramdisk-kernel", "", "`file` of the kernel of the ramdisk (made by: ferrite image build)")
	f.String("ramdisk-initrd", "", "`file` of the initramfs of the ramdisk")
	f.StringSlice("file-url-allowed-paths", nil,
		"`folders` on this host whose files nodes may name as deploy_kernel, deploy_ramdisk, rescue_kernel, rescue_ramdisk "+
			"and, as file:///path, image_source; without any, these are URLs")
	f.String("discovery", "",
		"`hardware type` that machines nobody has enrolled become nodes of: they are booted into the ramdisk, inspected "+
			"and left in enroll; empty: they stay unknown")
	f.Int("discovery-limit", 100,
		"discovered nodes in enroll beyond which no more are taken in, since anybody on the machines' network can "+
			"claim to be one")
	f.String("kernel-append", "", "more kernel parameters for the ramdisk, as nofb or console=ttyS0,115200")
}

func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "ferrite"
	}
	return h
}
