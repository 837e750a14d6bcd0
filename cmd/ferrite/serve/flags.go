package serve

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// flagGroups are all settings, as the help shows them: rows with one title are one group.
var flagGroups = []struct {
	title string
	add   func(*pflag.FlagSet)
}{
	{"Configuration and data", dataFlags},
	{"API, users and TLS", apiFlags},
	{"OpenStack", flagsOf("openstack")},
	{"Hardware and images", hardwareFlags},
	{"Default interfaces", interfaceFlags},
	{"This conductor", conductorFlags},
	{"This conductor", flagsOf("webhooks")},
	{"This conductor", metricsFlags},
	{"This conductor", flagsOf("traces")},
	{"This conductor", urlFlags},
	{"Boot service, and discovery", bootFlags},
	{"Activities and their time limits", activityFlags},
	{"Activities and their time limits", flagsOf("hosts")},
	{"Agents", agentFlags},
	{"Erasing", erasingFlags},
	{"Power, BMCs and sensors", powerFlags},
}

// flags declares every setting with its default.
func flags(f *pflag.FlagSet) {
	f.SortFlags = false
	for _, g := range flagGroups {
		flaggroup.Add(f, g.title, g.add)
	}
	flaggroup.First(f, "config", "check", "data-dir", "database", "api-address", "advertise-url", "auth", "htpasswd-file",
		"users-file", "tls-cert", "tls-key", "hardware-types", "boot", "boot-interface", "boot-address", "boot-pool",
		"boot-router", "boot-dns", "ramdisk-kernel", "ramdisk-initrd")
}

func dataFlags(f *pflag.FlagSet) {
	f.String("config", "", "YAML `file` of settings; flags beat FERRITE_* variables, which beat the file")
	f.String("data-dir", datafolder.Default,
		"`folder` of the database and the machines' logs; created if missing, mode 0700, locked while running")
	f.Int("disk-reserve", 64,
		"`MiB` of a file in --data-dir; when the disk is full, its room goes to deletes, undeploys and their audit; 16 or "+
			"more, 0 for none; a quarter of the disk at most")
	f.String("database", "",
		"`URL` of a PostgreSQL database: postgres://user@host/name; without it, a SQLite file in --data-dir")
	f.String("database-password-file", "",
		"`file` with the password of --database; without it, from the URL, or from PGPASSFILE (~/.pgpass)")
	f.String("cluster-key-file", "",
		"`file` with the key of a cluster: this conductor shares --database with others that have the same key, and one "+
			"of them leads at a time")
	f.String("group", "", "conductor `group` that this conductor leads in a cluster: nodes with this conductor_group")
	f.String("cluster-address", "",
		"`host:port` where the other conductors of a cluster reach this one (default: the host of --api-address, any port)")
	f.Bool("init", false,
		"create a database and keys that --data-dir has lost; existing files stay")
	f.Bool("check", false,
		"read the configuration and the files that it names, report faults, and end; nothing is made or opened")
}

func apiFlags(f *pflag.FlagSet) {
	f.String("api-address", "127.0.0.1:6385", "`host:port` of the REST API")
	f.StringSlice("auth", []string{"none"}, "how operators log in: none, or some of basic, token and keystone")
	f.String("htpasswd-file", "",
		"`file` of passwords (bcrypt) for --auth basic, made by: ferrite user password, or htpasswd -B")
	f.String("users-file", "",
		"`file` of users with their roles, projects and tokens, made by: ferrite user set; without it, everybody in "+
			"--htpasswd-file is an admin")
	f.Bool("allow-anybody", false,
		"with --auth none: accept requests from anybody that reaches --api-address, although it is not the loopback")
	f.StringSlice("allowed-host", nil,
		"with --auth none: `names` by which clients reach the API, beside IP addresses, localhost and the hosts of "+
			"--advertise-url and --public-url; requests for others are refused, since a web page could have sent them")
	f.String("tls-cert", "",
		"PEM `file` of the API's certificate and its authorities: the API uses https, and agents trust these certificates")
	f.String("tls-key", "", "PEM `file` of the private key of --tls-cert")
}

func hardwareFlags(f *pflag.FlagSet) {
	f.StringSlice("hardware-types", knownHardware(), "enabled hardware types, of "+strings.Join(knownHardware(), ", "))
	f.Lookup("hardware-types").DefValue = "all of them"
	f.StringSlice("bmc-allow", nil,
		"`networks` (10.0.0.1/32) whose BMCs may be loopback, link-local, multicast or this host's own addresses")
	f.StringSlice("registry-allow", nil,
		"`networks` (10.0.0.1/32) whose registries (oci://) and image servers may be loopback, link-local, multicast or "+
			"this host's own addresses; they are never asked through a proxy")
	f.StringSlice("image-allow", nil,
		"`networks` (10.0.0.0/8) of the image servers and registries that this host calls, beside --registry-allow "+
			"(default: all but loopback, link-local, multicast and this host's own addresses, and the metadata of clouds)")
	f.StringSlice("rules-allow", nil,
		"`networks` (10.0.0.1/32) whose servers inspection rules may call (api-call) although they are loopback, link-local, "+
			"multicast or this host's own addresses; they are never asked through a proxy")
	f.String("check-image", "warn",
		"look at an image at an http(s) URL before a machine is switched off for it, and refuse a deploy whose image is not "+
			"there, too large or no image of a disk; warn of an image that this host cannot reach, or refuse it, too "+
			"(require); off: ask no servers")
	f.String("image-folder", "",
		"`folder` for the bytes of named images (ferrite image add) and of --image-cache (default: images, in --data-dir)")
	f.String("image-max-size", largestImage, "largest `size` of a named image, as 500M or 64G (powers of 1024)")
	f.String("image-project-limit", largestOwned,
		"largest `size` of all named images of one project; 0: as many as have room")
	f.StringSlice("project-limit", nil,
		"`limits` of the records that users of one project may store, as nodes=500,bytes=200M; 0: no limit of that kind "+
			"(defaults: nodes=10000, allocations=10000, bytes=1G and others in docs/design/bounds.md)")
	f.String("image-cache", "0",
		"`size` that images at http(s) URLs may take that are pulled once through this conductor, which then serves them to "+
			"the agents; 0: each agent fetches by itself; needs --boot")
	f.String("ca-folder", "",
		"`folder` on this host with certificates (PEM) that nodes may name as redfish_verify_ca and agent_verify_ca; "+
			"without it, nodes have the PEM itself, true or false")
	f.Bool("console-log", false,
		"keep the serial console of every machine open and put the firmware's messages into its log; without it, only of "+
			"consoles that are viewed or enabled")
}

func conductorFlags(f *pflag.FlagSet) {
	f.String("host", hostname(), "`name` of this conductor")
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("log-format", "text", "text, or json: one object a line")
	f.Int("events-keep", 100_000, "number of events (ferrite events) that are kept; older ones are deleted")
	f.Duration("events-age", 7*24*time.Hour, "age at which events are deleted")
	f.Duration("audit-keep", 0,
		"age at which entries of the audit are deleted, 720h or more; an entry of its own proves the deleted ones; 0: never")
}

func metricsFlags(f *pflag.FlagSet) {
	f.String("metrics-address", "",
		"`host:port` of /metrics without a login, for Prometheus; without it, /metrics is at --api-address, for readers")
	f.Int("metrics-sensor-series", 20000,
		"number of series of sensors in one answer of /metrics; machines beyond it are left out, and counted; 0 for none")
}

func urlFlags(f *pflag.FlagSet) {
	f.String("advertise-url", "", "`URL` by which ramdisks reach the API (default: --boot-address and the API's port)")
	f.StringSlice("trusted-proxies", nil,
		"`networks` (10.0.0.1/32) of proxies before the API and boot HTTP: they name the client, by the PROXY "+
			"protocol, Forwarded or X-Forwarded-For")
	f.String("public-url", "",
		"`URL` by which clients reach the API through a proxy, for links in answers (default: the Host of each request)")
}

func activityFlags(f *pflag.FlagSet) {
	d := plan.DefaultSettings()
	f.Bool("fast-track", true, "keep the agent running between inspection, cleaning and deploy, to save boots")
	f.String("fast-track-agents", "own", "agents that are kept running: own (Ferrite's) or any (ironic-python-agent too)")
	f.Duration("fast-track-idle", d.FastTrackIdle,
		"time at rest after which a machine that runs a kept agent is switched off; 0 for never")
	f.String("kexec", "auto",
		"how a deployed machine is started: auto (by kexec from the ramdisk, where that is right) or "+
			"never (always through its firmware); the capability kexec:never does the same for one node")
	f.Duration("deploy-timeout", d.DeployTimeout, "time without a call from the ramdisk after which a deploy fails")
	f.Duration("clean-timeout", d.CleanTimeout, "time without a call from the ramdisk after which cleaning fails")
	f.Duration("inspect-timeout", d.InspectTimeout, "time without a call from the ramdisk after which inspection fails")
	f.Duration("rescue-timeout", d.RescueTimeout, "time without a call from the ramdisk after which a rescue fails")
	f.Duration("service-timeout", d.ServiceTimeout, "time without a call from the ramdisk after which a service fails")
	f.Int("boot-retries", d.BootRetries, "number of times a machine is started again if its network boot goes no further")
	f.Duration("boot-retry-after", d.BootRetryAfter,
		"time without a new boot stage after which the network boot counts as lost; longer than your servers' firmware "+
			"takes to start; 0 for never")
	f.Duration("manual-power-timeout", d.PersonTimeout,
		"time limit of a power change that a person makes: see the hardware type manual-management")
	f.Duration("ramdisk-shutdown-timeout", d.RamdiskPowerOff,
		"time that a ramdisk may take to shut down after a deploy, before the BMC cuts the power")
	f.Duration("step-timeout", d.StepTimeout,
		"time limit of one step of an agent or a BMC without measured progress, even if heartbeats come")
	f.Duration("step-limit", d.StepLimit, "time limit of one step")
	f.String("deploy-logs-collect", "on_failure",
		"when to collect the logs of agents that do not send them, for ferrite node logs: on_failure or never")
	f.Duration("heartbeat-timeout", 300*time.Second, "largest time between heartbeats; agents send two or three in it")
	f.Bool("enable-bios-bootloader-install", d.BIOSBootloader,
		"let agents run grub-install of any partition image as root in the ramdisk (CVE-2026-43003); needed for BIOS "+
			"machines, and for UEFI machines if the image has no EFI files")
	f.Int("max-concurrent-deploy", d.MaxConcurrentDeploy,
		"number of nodes deployed at a time, half of them of one project while others have some; more are refused with "+
			"503, and clients try again; 0 for no limit")
	f.Int("max-concurrent-clean", d.MaxConcurrentClean,
		"number of nodes undeployed or cleaned at a time, half of them of one project while others have some; more are "+
			"refused with 503, except by provide; 0 for no limit")
}

func agentFlags(f *pflag.FlagSet) {
	f.StringSlice("agent-allow", nil,
		"`networks` (10.0.0.1/32) whose agents may have loopback, link-local, multicast or this host's own addresses")
	f.String("agent-ca", "",
		"PEM `file` of more authorities for agents that announce no certificate, if their node has no agent_verify_ca")
	f.Bool("agent-require-tls", true,
		"call agents only by https; false: also by http, which sends tokens, config drives and pull tokens in clear text")
	f.Bool("agent-callback-path", false, "accept callback URLs with a path, for agents behind a proxy")
}

func erasingFlags(f *pflag.FlagSet) {
	d := plan.DefaultSettings()
	f.Bool("automated-clean", d.AutomatedClean, "clean disks between tenants")
	f.Int("erase-devices-priority", d.EraseDevicesPriority,
		"priority of erasing whole disks, with verification, in automated cleaning; 0 for never (Ironic's is 10)")
	f.Int("erase-devices-metadata-priority", d.EraseMetadataPriority,
		"priority of wiping partition tables and file system headers in automated cleaning; 0 for never")
	f.Bool("continue-if-disk-secure-erase-fails", d.Erasing.ContinueIfSecureEraseFailed,
		"if the secure erase of a disk fails, erase it by a method that reaches less of it")
	f.Bool("enable-nvme-secure-erase", d.Erasing.NVMe, "let NVMe drives sanitize or format themselves")
	f.Bool("enable-ata-secure-erase", d.Erasing.ATA, "let ATA drives erase themselves")
	f.Bool("erase-skip-read-only", d.Erasing.SkipReadOnly, "skip read-only disks instead of failing")
	f.Int("shred-random-overwrite-iterations", d.Erasing.Iterations,
		"number of times a disk is overwritten with random data, if it is erased by overwriting")
	f.Bool("shred-final-overwrite-with-zeros", d.Erasing.Zeroize, "overwrite a disk with zeroes after the random data")
	f.Int("disk-erasure-concurrency", d.Erasing.Concurrency, "number of disks of a machine that are erased at a time")
}

func powerFlags(f *pflag.FlagSet) {
	d := plan.DefaultSettings()
	for _, s := range node.PatienceSettings() {
		f.Duration(s.Name, s.Default, fmt.Sprintf("%s; for one node, in seconds: %s in its driver_info", s.Help, s.Key()))
	}
	f.Duration("soft-power-off-timeout", d.SoftPowerOffTimeout,
		"time limit for an operating system to shut down or reboot")
	f.Int("workers", 64, "number of calls to BMCs and agents at a time, for each of: those that answer promptly, "+
		"those that answer slowly, those that do not answer, those never called before")
	f.Duration("sync-power-state-interval", d.SyncPowerInterval,
		"time between two readings of a node's power state; 0 for never")
	f.Duration("sensor-interval", d.SensorInterval,
		"time between two readings of a node's sensors, in a turn for its power; 0 for never")
	f.Int("sync-power-state-workers", 64, "number of power states that are read at a time")
	f.Int("power-state-sync-max-retries", d.PowerSyncRetries,
		"number of failed retries after which a node goes into maintenance, if its power cannot be read or forced")
	f.Duration("power-failure-recovery-interval", d.PowerRecoveryInterval,
		"time between two readings of a node that is in maintenance for its power; a good reading ends it; 0 for never")
	f.Bool("force-power-state-during-sync", d.ForcePowerState,
		"switch a machine whose power differs from its record, instead of correcting the record")
}

func bootFlags(f *pflag.FlagSet) {
	f.Bool("boot", false, "serve DHCP, TFTP and boot HTTP on --boot-interface")
	f.String("boot-interface", "", "network `interface` that machines boot from")
	f.String("boot-address", "",
		"this conductor's `address/prefix` on --boot-interface (default: read from the interface)")
	f.String("boot-pool", "", "`first-last` addresses to give to machines (default: the upper half of the subnet)")
	f.String("boot-router", "", "default `router` of the machines (default: none)")
	f.StringSlice("boot-dns", nil, "name servers of the machines")
	f.StringArray("boot-subnets", nil,
		"`subnet` behind a relay, as \"10.2.0.0/24 pool=10.2.0.100-10.2.0.199 router=10.2.0.1\", with more keys: dns, ntp, "+
			"domain, lease, relay, option-CODE; repeat the flag, or separate subnets by ; in the environment")
	f.Duration("boot-lease", dhcp.DefaultLease, "duration of a DHCP lease")
	f.String("dhcp", string(bootserver.DHCPFull),
		"full (this conductor gives addresses), proxy (it names boot files beside another DHCP server: proxyDHCP) or off "+
			"(the other server does both; ferrite boot snippet prints its settings)")
	f.Bool("other-dhcp", false,
		"another DHCP server gives addresses to the same machines: identify a machine only by the one-time token of its "+
			"boot, not by its address")
	f.String("loader-dir", bootserver.DefaultLoaderDir, "`folder` of iPXE's binaries (Debian package ipxe)")
	f.String("ramdisk-kernel", "", "kernel `file` of the ramdisk, made by: ferrite ramdisk build")
	f.String("ramdisk-initrd", "", "initramfs `file` of the ramdisk")
	f.String("media-url", "",
		"`URL` by which BMCs reach the images of virtual drives, such as http://192.0.2.1:7080 (default: the boot service's)")
	f.String("media-loaders", "",
		"`folder` of the boot loaders of such images (default: loaders, beside --ramdisk-kernel, made by: ferrite ramdisk "+
			"build)")
	f.StringSlice("file-url-allowed-paths", nil,
		"`folders` on this host whose files nodes may name as deploy_kernel, deploy_ramdisk, rescue_kernel, rescue_ramdisk "+
			"and image_source (file:///path); without folders, only URLs")
	f.String("discovery", "",
		"`hardware type` of nodes for unknown machines: these boot the ramdisk, are inspected and stay in enroll; empty "+
			"for no discovery")
	f.Int("discovery-limit", 100,
		"largest number of discovered nodes in enroll; anybody on the machines' network can send made-up machines")
	f.String("bmc-credentials", "none",
		"credentials for the BMCs of discovered machines: none, or generate: the agent makes a user ("+plan.BMCUserName+
			") in the BMC from inside the machine and hands it to this conductor; needs --tls-cert")
	f.String("kernel-append", "", "more kernel parameters for the ramdisk, like nofb or console=ttyS0,115200")
}

func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "ferrite"
	}
	return h
}
