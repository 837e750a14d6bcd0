package archtest

import "strings"

const module = "github.com/ferrite-metal/ferrite/"

// room is a folder with all below it, except for the rooms in it that have a row of their own.
type room struct {
	path string
	may  []string // rooms that it may import, beside itself
	open string   // the file that a newcomer opens first
	why  string
}

// rooms are in the order of ARCHITECTURE.md's table, which TestGenerated writes: a room imports rooms above it alone.
var rooms = []room{
	{"proto", nil, "agentapi/agentapi.go", "the wire of agent, conductor and CLI: standard library only"},
	{"images", list("proto"), "disk/write.go", "formats of disks, file systems and ramdisks: files in, an image out"},
	{"pxe", list("proto"), "booter.go", "DHCP, TFTP, boot HTTP and scripts; knows no nodes"},
	{"agent", list("images, proto"), "agent.go", "the ramdisk's program: steps, disks, inventory; knows no conductor"},

	{"conductor/seal", nil, "ring.go", "secrets at rest, and their keys"},
	{"conductor/outbound", nil, "outbound.go", "every call to an address that others name"},
	{"conductor/node", list("conductor/seal, proto"), "node.go", "records and the table of states: plain data"},
	{"conductor/plan", list("conductor/node, proto"), "decide.go", "decisions: plain data in, plain data out"},
	{"conductor/engine", list("conductor/node, conductor/plan, proto"), "core/loop.go",
		"the only writer of nodes; knows interfaces, not drivers"},
	{"conductor/store", list("conductor/node, conductor/seal, proto"), "store.go", "records in SQL; decides nothing"},
	{"conductor/bmc", list("conductor/node, conductor/outbound, proto"), "bmc.go", "drivers of BMCs, and consoles"},
	{"conductor/server", list("conductor/node, conductor/seal, conductor/store, proto"), "datafolder/folder.go",
		"the process: data folder, clock, certificates, limits, metrics"},
	{"conductor/imagestore", list("conductor/node, conductor/outbound, images, proto"), "store.go",
		"images that a site keeps, and where others are"},
	{"conductor/agents", list("conductor/node, conductor/outbound, conductor/server, proto"), "server.go",
		"the agent's protocol, before the engine; logs of machines"},
	{"conductor/boot", list("conductor/engine, conductor/node, conductor/outbound, conductor/plan, images, proto, pxe"),
		"bootpolicy/bootpolicy.go", "the only bridge from pxe to nodes"},
	{"conductor/api", list("conductor/bmc, conductor/engine, conductor/node, conductor/outbound, conductor/plan, " +
		"conductor/server, proto"), "api.go", "Ironic's REST API and the web interface, before the engine"},
	{"conductor/cluster", list("conductor/agents, conductor/engine, conductor/imagestore, conductor/node, " +
		"conductor/seal, conductor/server, conductor/store, proto"), "cluster.go",
		"several conductors: leadership, forwarding, takeover"},

	{"conductor/extras/hosts", list("core, proto"), "host/decide.go", "Metal3's documents, and the Kubernetes API"},
	{"conductor/extras/openstack", list("core, proto"), "neutron/attach.go",
		"Keystone, Glance, Neutron, Nova, imports of an Ironic"},
	{"conductor/extras/signals", list("core, proto"), "webhooks/sender.go", "receivers of events, and traces"},
	{"conductor/extras/operate", list("core, proto"), "doctor/doctor.go", "backup, and the doctor of a host"},

	{"lab/network", nil, "namespace.go", "a network namespace; knows no machines"},
	{"lab/qemu", nil, "machine.go", "a machine with a power button; knows no conductor"},
	{"lab/redfish", list("lab/qemu"), "server.go", "a BMC before a machine; knows no conductor"},
	{"lab", list("agent, core, extras, images, lab/network, lab/qemu, lab/redfish, proto, pxe"), "lab.go",
		"the machine room as a library, and its suites; never shipped"},
	{"docs", nil, "docs.go", "pages that the program prints"},
	{"cmd/ferrite/internal", list("proto"), "flaggroup/flaggroup.go",
		"groups of flags in help, the configuration file, and secrets from terminals and files"},
	{"cmd/ferrite/cli", list("proto, cmd/ferrite/internal"), "cli.go", "the CLI is a client like any other"},
	{"cmd", list("agent, cmd/ferrite/cli, cmd/ferrite/internal, core, docs, extras, images, " +
		"lab, lab/redfish, proto, pxe"), "ferrite/serve/serve.go", "wiring, and the rules of this table; no room imports it"},
}

// wall stands inside rooms: the packages import none that it refuses, of ours or of others, nor any below those.
// "x/*" is all packages of the room x. A package may import itself.
type wall struct {
	packages []string
	refused  []string
	why      string
}

// pure packages do no I/O, keep no time and share nothing.
var pure = list("conductor/node, conductor/node/fsm, conductor/plan, conductor/plan/rules, " +
	"conductor/api/auth/oslopolicy, " +
	"conductor/extras/hosts/claim, conductor/extras/hosts/host, conductor/extras/hosts/firmware, " +
	"conductor/extras/hosts/translate, proto/rootdevice, proto/netconfig, proto/placeholder")

var (
	drivers = list("conductor/bmc/redfish, conductor/bmc/ipmi, conductor/bmc/manual, conductor/bmc/fake")
	parts   = list("conductor/engine/hardware, conductor/engine/jobs, conductor/engine/powersync, " +
		"conductor/engine/ramdisk, conductor/engine/records")
)

var walls = []wall{
	{pure, list("os, net/http, io/ioutil, os/exec, database/sql, log/slog, sync, crypto/rand, math/rand, math/rand/v2"),
		"a pure package does no I/O"},
	{list("agent/*"), list("github.com/stmcginnis/gofish, github.com/bougou/go-ipmi, github.com/labstack/echo, " +
		"github.com/diskfs/go-diskfs"), "the ramdisk stays small"},
	{drivers, drivers, "a driver imports no other driver"},
	{parts, parts, "a part of the engine rests on its core, and on no other part"},
	{list("conductor/node, conductor/node/fsm"), list("conductor/node/objects, conductor/seal"),
		"the record of a node knows neither documents nor keys"},
	{list("conductor/bmc/console, conductor/bmc/sol, conductor/bmc/sshline"), list("conductor/node"),
		"lines of bytes know no nodes"},
	{list("conductor/api/rest, conductor/api/auth, conductor/api/ui"), list("conductor/node, conductor/engine"),
		"the generic part of the API knows no nodes"},
	{list("conductor/imagestore"), list("conductor/node"), "bytes of images by digest know no nodes"},
}

// forTests are packages that only tests import, beside all packages with names that end in "test".
var forTests = list("conductor/store/largesite, conductor/store/mem")

// list splits names at commas. "core" stands for the conductor's rooms but its extras, "extras" for those.
func list(names string) (all []string) {
	for name := range strings.SplitSeq(names, ", ") {
		switch name {
		case "core":
			all = append(all, list("conductor/seal, conductor/outbound, conductor/node, conductor/plan, conductor/engine, "+
				"conductor/store, conductor/bmc, conductor/server, conductor/imagestore, conductor/agents, conductor/boot, "+
				"conductor/api, conductor/cluster")...)
		case "extras":
			all = append(all, list("conductor/extras/hosts, conductor/extras/openstack, conductor/extras/signals, "+
				"conductor/extras/operate")...)
		default:
			all = append(all, name)
		}
	}
	return all
}
