package serve

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/flaggroup"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// flags declares every setting of a conductor, as the help shows them: rows with one title are one group.
func (c *Config) flags(s *settings) {
	s.SortFlags = false
	for _, g := range []struct {
		title string
		add   func(*settings)
	}{
		{"Configuration and data", c.dataFlags},
		{"API, users and TLS", c.apiFlags},
		{"OpenStack", c.extraFlags("openstack")},
		{"Hardware and images", c.hardwareFlags},
		{"Default interfaces", c.interfaceFlags},
		{"This conductor", c.conductorFlags},
		{"This conductor", c.extraFlags("webhooks")},
		{"This conductor", c.metricsFlags},
		{"This conductor", c.extraFlags("traces")},
		{"This conductor", c.urlFlags},
		{"Boot service, and discovery", c.bootFlags},
		{"Activities and their time limits", c.activityFlags},
		{"Activities and their time limits", c.extraFlags("hosts")},
		{"Agents", c.agentFlags},
		{"Cleaning", c.cleaningFlags},
		{"Erasing", c.erasingFlags},
		{"Inspection", c.inspectionFlags},
		{"Power, BMCs and sensors", c.powerFlags},
	} {
		flaggroup.Add(s.FlagSet, g.title, func(*pflag.FlagSet) { g.add(s) })
	}
	flaggroup.First(s.FlagSet, "config", "check", "data-dir", "database", "api-address", "advertise-url", "auth",
		"htpasswd-file", "users-file", "tls-cert", "tls-key", "hardware-types", "boot", "boot-interface", "boot-address",
		"boot-pool", "boot-router", "boot-dns", "ramdisk-kernel", "ramdisk-initrd")
}

func (c *Config) dataFlags(s *settings) {
	s.String("config", "", "YAML `file` of settings; flags beat FERRITE_* variables, which beat the file")
	s.textVar(&c.DataDir, "data-dir", datafolder.Default,
		"`folder` of the database and the machines' logs; created if missing, mode 0700, locked while running",
		named(": name the folder of the database"))
	s.intVar(&c.DiskReserve, "disk-reserve", 64,
		"`MiB` of a file in --data-dir; when the disk is full, its room goes to deletes, undeploys and their audit; 16 or "+
			"more, 0 for none; a quarter of the disk at most",
		orZero(within(16, 1<<20, ": say 16 or more MiB, for the writes between two checkpoints, or 0 for none")))
	s.StringVar(&c.Database, "database", "",
		"`URL` of a PostgreSQL database: postgres://user@host/name; without it, a SQLite file in --data-dir")
	s.StringVar(&c.PasswordFile, "database-password-file", "",
		"`file` with the password of --database; without it, from the URL, or from PGPASSFILE (~/.pgpass)")
	s.StringVar(&c.ClusterKey, "cluster-key-file", "",
		"`file` with the key of a cluster: this conductor shares --database with others that have the same key, and one "+
			"of them leads at a time")
	s.StringVar(&c.Group, "group", "",
		"conductor `group` that this conductor leads in a cluster: nodes with this conductor_group")
	s.textVar(&c.ClusterAddress, "cluster-address", "",
		"`host:port` where the other conductors of a cluster reach this one (default: the host of --api-address, any port)",
		orZero(address))
	s.BoolVar(&c.Init, "init", false,
		"create a database and keys that --data-dir has lost; existing files stay")
	s.BoolVar(&c.OnlyCheck, "check", false,
		"read the configuration and the files that it names, report faults, and end; nothing is made or opened")
}

func (c *Config) apiFlags(s *settings) {
	s.textVar(&c.APIAddress, "api-address", "127.0.0.1:6385", "`host:port` of the REST API", address)
	s.textVar(&c.AgentAPI, "agent-api-address", "",
		"`host:port` where agents call (lookup, heartbeat, inspection data); --api-address refuses them then (default: "+
			"--api-address)", orZero(address))
	s.StringSliceVar(&c.Auth, "auth", []string{"none"}, "how operators log in: none, or some of basic, token and keystone")
	s.StringVar(&c.Htpasswd, "htpasswd-file", "",
		"`file` of passwords (bcrypt) for --auth basic, made by: ferrite user password NAME, or htpasswd -B")
	s.StringVar(&c.Users, "users-file", "",
		"`file` of users with their roles, projects and tokens, made by: ferrite user set NAME --role ROLE; without it, "+
			"everybody in --htpasswd-file is an admin")
	s.StringVar(&c.PolicyFile, "policy-file", "",
		"`file` of rules in the language of oslo.policy (YAML or JSON), by Ironic's names, which replace rows of the policy; "+
			"needs logins")
	s.BoolVar(&c.AllowAnybody, "allow-anybody", false,
		"with --auth none: accept requests from anybody that reaches --api-address, although it is not the loopback")
	s.StringSliceVar(&c.AllowedHosts, "allowed-host", nil,
		"with --auth none: `names` by which clients reach the API, beside IP addresses, localhost and the hosts of "+
			"--advertise-url and --public-url; requests for others are refused, since a web page could have sent them")
	s.StringVar(&c.TLSCert, "tls-cert", "",
		"PEM `file` of the API's certificate and its authorities: the API uses https, and agents trust these certificates")
	s.StringVar(&c.TLSKey, "tls-key", "", "PEM `file` of the private key of --tls-cert")
	s.tlsVars(&c.APITLS, "", "that clients of the API may use", "1.2")
}

func (c *Config) hardwareFlags(s *settings) {
	s.StringSliceVar(&c.HardwareTypes, "hardware-types", knownHardware(),
		"enabled hardware types, of "+strings.Join(knownHardware(), ", "))
	bounded(s, &c.HardwareTypes, "hardware-types", []bound[[]string]{{func(types []string) bool { return len(types) > 0 },
		": name at least one of " + strings.Join(bmc.Names(), ", ")}})
	s.Lookup("hardware-types").DefValue = "all of them"
	s.StringSliceVar(&c.BMCAllow, "bmc-allow", nil,
		"`networks` (10.0.0.1/32) whose BMCs may be loopback, link-local, multicast or this host's own addresses")
	s.StringSliceVar(&c.RegistryAllow, "registry-allow", nil,
		"`networks` (10.0.0.1/32) whose registries (oci://) and image servers may be loopback, link-local, multicast or "+
			"this host's own addresses; they are never asked through a proxy")
	s.StringSliceVar(&c.ImageAllow, "image-allow", nil,
		"`networks` (10.0.0.0/8) of the image servers and registries that this host calls, beside --registry-allow "+
			"(default: all but loopback, link-local, multicast and this host's own addresses, and the metadata of clouds)")
	s.StringSliceVar(&c.RulesAllow, "rules-allow", nil,
		"`networks` (10.0.0.1/32) whose servers inspection rules may call (api-call) although they are loopback, link-local, "+
			"multicast or this host's own addresses; they are never asked through a proxy")
	s.wordVar(func(w string) { c.CheckImage, c.RequireImageCheck = w, w == "require" }, "check-image", "warn",
		"look at an image at an http(s) URL before a machine is switched off for it, and refuse a deploy whose image is not "+
			"there, too large or no image of a disk; warn of an image that this host cannot reach, or refuse it, too "+
			"(require); off: ask no servers",
		"warn", "require", "off")
	const formats, sayFormats = "permitted-image-formats", ": say raw, qcow2 or both"
	s.eachVar(&c.ImageFormats, formats, plan.ImageFormats(),
		"`formats` of images that may be deployed, of raw and qcow2; raw includes compressed ones",
		oneOf(plan.ImageFormats()), sayFormats)
	bounded(s, &c.ImageFormats, formats, []bound[[]string]{{func(all []string) bool { return len(all) > 0 }, sayFormats}})
	s.StringVar(&c.ImageFolder, "image-folder", "",
		"`folder` for the bytes of named images (ferrite image add NAME FILE) and of --image-cache "+
			"(default: images, in --data-dir)")
	s.StringVar(&c.ImageMaxSize, "image-max-size", largestImage,
		"largest `size` of a named image, as 500M or 64G (powers of 1024)")
	s.StringVar(&c.ImageProjectLimit, "image-project-limit", largestOwned,
		"largest `size` of all named images of one project; 0: as many as have room")
	s.StringSliceVar(&c.ProjectLimit, "project-limit", nil,
		"`limits` of the records that users of one project may store, as nodes=500,bytes=200M; 0: no limit of that kind "+
			"(defaults: nodes=10000, allocations=10000, bytes=1G and others in docs/design/bounds.md)")
	s.StringVar(&c.ImageCache, "image-cache", "0",
		"`size` that images at http(s) URLs may take that are pulled once through this conductor, which then serves them to "+
			"the agents; 0: each agent fetches by itself; needs --boot")
	s.StringVar(&c.CAFolder, "ca-folder", "",
		"`folder` on this host with certificates (PEM) that nodes may name as redfish_verify_ca and agent_verify_ca; "+
			"without it, nodes have the PEM itself, true or false")
	s.BoolVar(&c.ConsoleLog, "console-log", false,
		"keep the serial console of every machine open and put the firmware's messages into its log; without it, only of "+
			"consoles that are viewed or enabled")
}

func (c *Config) conductorFlags(s *settings) {
	s.textVar(&c.ConductorName, "host", hostname(), "`name` of this conductor", named(": a conductor needs a name"))
	s.wordVar(func(w string) { c.LogLevel = w }, "log-level", "info", "debug, info, warn or error",
		"debug", "info", "warn", "error")
	s.wordVar(func(w string) { c.LogFormat = w }, "log-format", "text", "text, or json: one object a line", "text", "json")
	s.intVar(&c.EventsKeep, "events-keep", 100_000,
		"number of events (ferrite events) that are kept; older ones are deleted", atLeast(1, ": say 1 or more"))
	s.durationVar(&c.EventsAge, "events-age", 7*24*time.Hour,
		"age at which events are deleted", atLeast(time.Minute, ": say 1m or more"))
	s.durationVar(&c.AuditKeep, "audit-keep", 0,
		"age at which entries of the audit are deleted, 720h or more; an entry of its own proves the deleted ones; 0: never",
		orZero(atLeast(nodeapi.AuditLeastKept, ": say 720h or more, since 30 days are always kept, or 0 for ever")))
}

func (c *Config) metricsFlags(s *settings) {
	s.textVar(&c.Metrics, "metrics-address", "",
		"`host:port` of /metrics without a login, for Prometheus; without it, /metrics is at --api-address, for readers",
		orZero(address))
	s.intVar(&c.SensorSeries, "metrics-sensor-series", 20000,
		"number of series of sensors in one answer of /metrics; machines beyond it are left out, and counted; 0 for none",
		atLeast(0, ": say 1 or more, or 0 for none"))
}

func (c *Config) urlFlags(s *settings) {
	s.StringVar(&c.AdvertiseURL, "advertise-url", "",
		"`URL` by which ramdisks reach the API (default: --boot-address and the API's port)")
	s.StringSliceVar(&c.TrustedProxies, "trusted-proxies", nil,
		"`networks` (10.0.0.1/32) of proxies before the API and boot HTTP: they name the client, by the PROXY "+
			"protocol, Forwarded or X-Forwarded-For")
	s.StringVar(&c.PublicURL, "public-url", "",
		"`URL` by which clients reach the API through a proxy, for links in answers (default: the Host of each request)")
}

// The bounds of most times, and of addresses.
var (
	address = bound[string]{hostPort, " is not host:port"}

	lasts  = atLeast(time.Nanosecond, " is over before it begins: say how long, as 30m")
	second = atLeast(time.Second, " is too short: say 1s or more")
)

func (c *Config) activityFlags(s *settings) {
	d := plan.DefaultSettings()
	s.BoolVar(&c.FastTrack, "fast-track", true,
		"keep the agent running between inspection, cleaning and deploy, to save boots")
	s.wordVar(func(w string) { c.FastTrackAny = w == "any" }, "fast-track-agents", "own",
		"agents that are kept running: own (Ferrite's) or any (ironic-python-agent too)", "own", "any")
	s.durationVar(&c.FastTrackIdle, "fast-track-idle", d.FastTrackIdle,
		"time at rest after which a machine that runs a kept agent is switched off; 0 for never",
		atLeast(time.Duration(0), ": say how long, as 10m, or 0 for never"))
	s.wordVar(func(w string) { c.Kexec = w == "auto" }, "kexec", "auto",
		"how a deployed machine is started: auto (by kexec from the ramdisk, where that is right) or "+
			"never (always through its firmware); the capability kexec:never does the same for one node",
		"auto", "never")
	s.durationVar(&c.DeployTimeout, "deploy-timeout", d.DeployTimeout,
		"time without a call from the ramdisk after which a deploy fails", lasts)
	s.durationVar(&c.CleanTimeout, "clean-timeout", d.CleanTimeout,
		"time without a call from the ramdisk after which cleaning fails", lasts)
	s.durationVar(&c.InspectTimeout, "inspect-timeout", d.InspectTimeout,
		"time without a call from the ramdisk after which inspection fails", lasts)
	s.durationVar(&c.RescueTimeout, "rescue-timeout", d.RescueTimeout,
		"time without a call from the ramdisk after which a rescue fails", lasts)
	s.durationVar(&c.ServiceTimeout, "service-timeout", d.ServiceTimeout,
		"time without a call from the ramdisk after which a service fails", lasts)
	s.BoolVar(&c.PowerOffInServiceFail, "poweroff-in-servicefail", false,
		"switch a machine off after its service has failed, although it has a workload")
	s.wordVar(func(w string) { c.RescueHash = w }, "rescue-password-hash-algorithm", "sha512",
		"hash of rescue passwords, which the ramdisk gets: sha512 or sha256 (crypt's $6$ and $5$)", "sha512", "sha256")
	s.wordVar(func(w string) { c.LesseeSource = w }, "automatic-lessee-source", plan.NoLessee,
		"project that becomes the lessee of a node without one for as long as its instance lasts: none, instance "+
			"(project_id in instance_info, as Nova writes it) or request (the project of the requesting user)",
		plan.NoLessee, plan.InstanceLessee, plan.RequestLessee)
	c.bootModeFlags(s)
	s.intVar(&c.BootRetries, "boot-retries", d.BootRetries,
		"number of times a machine is started again if its network boot goes no further", atLeast(0, ": say 0 or more"))
	s.durationVar(&c.BootRetryAfter, "boot-retry-after", d.BootRetryAfter,
		"time without a new boot stage after which the network boot counts as lost; longer than your servers' firmware "+
			"takes to start; 0 for never", atLeast(time.Duration(0), ": say 0 or more"))
	s.durationVar(&c.PersonTimeout, "manual-power-timeout", d.PersonTimeout,
		"time limit of a power change that a person makes: see the hardware type manual-management", lasts)
	s.durationVar(&c.RamdiskPowerOff, "ramdisk-shutdown-timeout", d.RamdiskPowerOff,
		"time that a ramdisk may take to shut down after a deploy, before the BMC cuts the power", lasts)
	s.durationVar(&c.StepTimeout, "step-timeout", d.StepTimeout,
		"time limit of one step of an agent or a BMC without measured progress, even if heartbeats come",
		second)
	s.durationVar(&c.StepLimit, "step-limit", d.StepLimit, "time limit of one step")
	s.wordVar(func(w string) { c.CollectLogs = w == "on_failure" }, "deploy-logs-collect", "on_failure",
		"when to collect the logs of agents that do not send them, for ferrite node logs NODE: on_failure or never",
		"on_failure", "never")
	s.durationVar(&c.FastTrackTimeout, "heartbeat-timeout", 300*time.Second,
		"largest time between heartbeats; agents send two or three in it", lasts)
	s.BoolVar(&c.BIOSBootloader, "enable-bios-bootloader-install", d.BIOSBootloader,
		"let agents run grub-install of any partition image as root in the ramdisk (CVE-2026-43003); needed for BIOS "+
			"machines, and for UEFI machines if the image has no EFI files")
	c.disallowFlags(s)
	c.concurrencyFlags(s)
}

// concurrencyFlags bound the numbers of nodes at work.
func (c *Config) concurrencyFlags(s *settings) {
	d := plan.DefaultSettings()
	s.intVar(&c.MaxConcurrentDeploy, "max-concurrent-deploy", d.MaxConcurrentDeploy,
		"number of nodes deployed at a time, half of them of one project while others have some; more are refused with "+
			"503, and clients try again; 0 for no limit", atLeast(0, ": say 1 or more, or 0 for any number"))
	s.intVar(&c.MaxConcurrentClean, "max-concurrent-clean", d.MaxConcurrentClean,
		"number of nodes undeployed or cleaned at a time, half of them of one project while others have some; more are "+
			"refused with 503, except by provide; 0 for no limit", atLeast(0, ": say 1 or more, or 0 for any number"))
	s.BoolVar(&c.MaxConcurrentPerGroup, "max-concurrent-per-conductor-group", d.MaxConcurrentPerGroup,
		"count for both limits the nodes of one conductor group only; a conductor of a cluster always does")
}

func (c *Config) agentFlags(s *settings) {
	s.StringSliceVar(&c.AgentAllow, "agent-allow", nil,
		"`networks` (10.0.0.1/32) whose agents may have loopback, link-local, multicast or this host's own addresses")
	s.StringVar(&c.AgentCA, "agent-ca", "",
		"PEM `file` of more authorities for agents that announce no certificate, if their node has no agent_verify_ca")
	s.BoolVar(&c.AgentRequireTLS, "agent-require-tls", true,
		"call agents only by https; false: also by http, which sends tokens, config drives and pull tokens in clear text")
	s.wordVar(func(w string) { c.LookupAtRest = w == "any" }, "lookup-at-rest", "proven",
		"agents that learn the node of a machine at rest (enroll, manageable, available): proven (booted by this conductor, "+
			"or with the agent token) or any (first come, first served, as Ironic's fast track does: for machines that "+
			"another DHCP server boots)", "proven", "any")
	s.tlsVars(&c.AgentsTLS, "agent-", "that agents are called by", "1.2")
	s.BoolVar(&c.AgentPath, "agent-callback-path", false, "accept callback URLs with a path, for agents behind a proxy")
	c.containerFlags(s)
}

func (c *Config) erasingFlags(s *settings) {
	d := plan.DefaultSettings()
	s.intVar(&c.EraseDevicesPriority, "erase-devices-priority", d.EraseDevicesPriority,
		"priority of erasing whole disks, with verification, in automated cleaning; 0 for never (Ironic's is 10)",
		atLeast(0, ": say 1 or more, or 0 for never"))
	s.intVar(&c.EraseMetadataPriority, "erase-devices-metadata-priority", d.EraseMetadataPriority,
		"priority of wiping partition tables and file system headers in automated cleaning; 0 for never",
		atLeast(0, ": say 1 or more, or 0 for never"))
	s.BoolVar(&c.Erasing.ContinueIfSecureEraseFailed, "continue-if-disk-secure-erase-fails",
		d.Erasing.ContinueIfSecureEraseFailed,
		"if the secure erase of a disk fails, erase it by a method that reaches less of it")
	s.BoolVar(&c.Erasing.NVMe, "enable-nvme-secure-erase", d.Erasing.NVMe, "let NVMe drives sanitize or format themselves")
	s.BoolVar(&c.Erasing.ATA, "enable-ata-secure-erase", d.Erasing.ATA, "let ATA drives erase themselves")
	s.BoolVar(&c.Erasing.SkipReadOnly, "erase-skip-read-only", d.Erasing.SkipReadOnly,
		"skip read-only disks instead of failing")
	s.intVar(&c.Erasing.Iterations, "shred-random-overwrite-iterations", d.Erasing.Iterations,
		"number of times a disk is overwritten with random data, if it is erased by overwriting",
		atLeast(0, ": say 0 or more"))
	s.BoolVar(&c.Erasing.Zeroize, "shred-final-overwrite-with-zeros", d.Erasing.Zeroize,
		"overwrite a disk with zeroes after the random data")
	s.intVar(&c.Erasing.Concurrency, "disk-erasure-concurrency", d.Erasing.Concurrency,
		"number of disks of a machine that are erased at a time", atLeast(1, ": say 1 or more"))
}

func (c *Config) powerFlags(s *settings) {
	d := plan.DefaultSettings()
	for _, p := range node.PatienceSettings() {
		s.durationVar(p.Of(&c.BMC), p.Name, p.Default,
			fmt.Sprintf("%s; for one node, in seconds: %s in its driver_info", p.Help, p.Key()),
			within(p.Least, p.Most, fmt.Sprintf(" is out of bounds: say from %s to %s", p.Least, p.Most)))
	}
	s.tlsVars(&c.BMCTLS, "bmc-", "that BMCs are called by", "1.1")
	s.BoolVar(&c.IPMISendRaw, "ipmi-send-raw", false,
		"let operators send any command to an IPMI BMC: the vendor method and the step send_raw, which reach past every "+
			"check of this conductor")
	s.BoolVar(&c.VerifyClock, "enable-verify-bmc-clock", false,
		"compare the clock of every Redfish BMC with this host's when its node is verified, and set it if they differ")
	s.durationVar(&c.SoftPowerOffTimeout, "soft-power-off-timeout", d.SoftPowerOffTimeout,
		"time limit for an operating system to shut down or reboot", second)
	s.intVar(&c.Workers, "workers", 64,
		"number of calls to BMCs and agents at a time, for each of: those that answer promptly, "+
			"those that answer slowly, those that do not answer, those never called before",
		atLeast(1, " carries out nothing: say 1 or more"))
	s.durationVar(&c.SyncPowerInterval, "sync-power-state-interval", d.SyncPowerInterval,
		"time between two readings of a node's power state; 0 for never", orZero(second))
	s.durationVar(&c.SensorInterval, "sensor-interval", d.SensorInterval,
		"time between two readings of a node's sensors, in a turn for its power; 0 for never", orZero(second))
	s.intVar(&c.SyncWorkers, "sync-power-state-workers", 64,
		"number of power states that are read at a time",
		atLeast(1, " reads nothing: say 1 or more, or --sync-power-state-interval 0"))
	s.intVar(&c.PowerSyncRetries, "power-state-sync-max-retries", d.PowerSyncRetries,
		"number of failed retries after which a node goes into maintenance, if its power cannot be read or forced",
		atLeast(0, " is less than none: say 0 or more"))
	s.durationVar(&c.PowerRecoveryInterval, "power-failure-recovery-interval", d.PowerRecoveryInterval,
		"time between two readings of a node that is in maintenance for its power; a good reading ends it; 0 for never",
		orZero(second))
	s.BoolVar(&c.ForcePowerState, "force-power-state-during-sync", d.ForcePowerState,
		"switch a machine whose power differs from its record, instead of correcting the record")
}

func (c *Config) bootFlags(s *settings) {
	s.BoolVar(&c.Boot, "boot", false, "serve DHCP, TFTP and boot HTTP on --boot-interface")
	s.StringVar(&c.BootInterface, "boot-interface", "", "network `interface` that machines boot from")
	s.StringVar(&c.BootAddress, "boot-address", "",
		"this conductor's `address/prefix` on --boot-interface (default: read from the interface)")
	s.StringVar(&c.BootPool, "boot-pool", "",
		"`first-last` addresses to give to machines (default: the upper half of the subnet)")
	s.StringVar(&c.BootRouter, "boot-router", "", "default `router` of the machines (default: none)")
	s.StringSliceVar(&c.BootDNS, "boot-dns", nil, "name servers of the machines")
	s.StringArrayVar(&c.BootSubnets, "boot-subnets", nil,
		"`subnet` behind a relay, as \"10.2.0.0/24 pool=10.2.0.100-10.2.0.199 router=10.2.0.1\", with more keys: dns, ntp, "+
			"domain, lease, relay, option-CODE; repeat the flag, or separate subnets by ; in the environment")
	s.durationVar(&c.BootLease, "boot-lease", dhcp.DefaultLease, "duration of a DHCP lease", lasts)
	s.wordVar(func(w string) { c.DHCP = w }, "dhcp", string(bootserver.DHCPFull),
		"full (this conductor gives addresses), proxy (it names boot files beside another DHCP server: proxyDHCP) or off "+
			"(the other server does both; ferrite boot snippet SERVER prints its settings)", bootserver.DHCPModes()...)
	s.BoolVar(&c.OtherDHCP, "other-dhcp", false,
		"another DHCP server gives addresses to the same machines: identify a machine only by the one-time token of its "+
			"boot, not by its address")
	s.StringVar(&c.LoaderDir, "loader-dir", bootserver.DefaultLoaderDir, "`folder` of iPXE's binaries (Debian package ipxe)")
	s.StringVar(&c.Kernel, "ramdisk-kernel", "", "kernel `file` of the ramdisk, made by: ferrite ramdisk build")
	s.StringVar(&c.Initrd, "ramdisk-initrd", "", "initramfs `file` of the ramdisk")
	s.StringArrayVar(&c.RamdiskByArch, "ramdisk-by-arch", nil,
		"kernel and initramfs for machines of one architecture (cpu_arch of their properties), as "+
			"`ARCHITECTURE=KERNEL,INITRAMFS`; repeat the flag, or separate by ; in the environment")
	s.textVar(&c.MediaURL, "media-url", "",
		"`URL` by which BMCs reach the images of virtual drives, such as http://192.0.2.1:7080 (default: the boot service's)",
		orZero(bound[string]{node.IsBaseURL,
			": expected an http(s) URL without user and query, such as http://192.0.2.1:7080"}))
	s.StringVar(&c.MediaLoaders, "media-loaders", "",
		"`folder` of the boot loaders of such images (default: loaders, beside --ramdisk-kernel, made by: ferrite ramdisk "+
			"build)")
	s.StringSliceVar(&c.FilePaths, "file-url-allowed-paths", nil,
		"`folders` on this host whose files nodes may name as deploy_kernel, deploy_ramdisk, rescue_kernel, rescue_ramdisk "+
			"and image_source (file:///path); without folders, only URLs")
	s.StringVar(&c.Discovery.Driver, "discovery", "",
		"`hardware type` of nodes for unknown machines: these boot the ramdisk, are inspected and stay in enroll; empty "+
			"for no discovery")
	s.intVar(&c.Discovery.Limit, "discovery-limit", 100,
		"largest number of discovered nodes in enroll; anybody on the machines' network can send made-up machines",
		atLeast(1, " takes in nothing: say 1 or more, or leave --discovery away"))
	s.wordVar(func(w string) { c.Discovery.BMCUser = w == "generate" }, "bmc-credentials", "none",
		"credentials for the BMCs of discovered machines: none, or generate: the agent makes a user ("+plan.BMCUserName+
			") in the BMC from inside the machine and hands it to this conductor; needs --tls-cert",
		"none", "generate")
	s.StringVar(&c.KernelAppend, "kernel-append", "",
		"more kernel parameters for the ramdisk, like nofb or console=ttyS0,115200")
}

func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "ferrite"
	}
	return h
}
