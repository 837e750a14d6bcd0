package archtest

import "strings"

const module = "github.com/ferrite-metal/ferrite/"

// rule names what packages may import of ours. "x" is x alone, "x/*" is x and all below it. The rule with the longest
// match is a package's own.
type rule struct {
	packages []string
	may      []string
	tests    []string // their tests may import these as well, and every package for tests
	why      string
	direct   bool // only direct imports count; otherwise whatever is imported must keep to may too
}

// decisions are the packages that know nodes, and do no I/O.
var decisions = []string{"conductor/fsm", "conductor/node", "conductor/rules", "conductor/plan"}

// rules are in the order of ARCHITECTURE.md's table, which TestGenerated writes.
var rules = []rule{
	{packages: list("proto/*, conductor/fsm, images/fat, images/spdx, agent/sys"),
		why: "contracts and pure cores, usable alone"},
	{packages: list("proto/agentapi"), may: list("proto/placeholder"), why: "addresses of a machine, and none"},
	{packages: list("proto/rootdevice"), may: list("proto/agentapi, proto/placeholder"),
		why: "one choice of a disk, for agent and conductor"},
	{packages: list("images/disk/*"), may: list("images/disk/*"), why: "a pure core, usable alone"},
	{packages: list("images/iso"), why: "a pure core: files in, an image out"},
	{packages: list("images/configdrive, images/bootiso"), may: list("images/fat, images/iso"),
		why: "pure cores: files in, an image out"},
	{packages: list("images/ramdisk/*"), may: list("images/*, proto/sitestep"),
		why: "the builder packs programs by their path"},

	{packages: list("conductor/node"), may: list("conductor/fsm"), why: "a pure core, usable alone"},
	{packages: list("conductor/rules"), may: list("conductor/fsm, conductor/node, proto/*"),
		why: "operators' rules: plain data in, plain data out"},
	{packages: list("conductor/plan"), may: list("conductor/fsm, conductor/node, conductor/rules, proto/*"),
		why: "decisions: plain data in, plain data out"},
	{packages: list("conductor/host/firmware"), may: list("conductor/fsm, conductor/node, proto/*"),
		why: "documents about firmware: plain data in, documents out"},
	{packages: list("conductor/host/translate"),
		may:   list("conductor/fsm, conductor/node, conductor/documents/yamljson, proto/*"),
		tests: list("conductor/bmc/*, conductor/cacert"), why: "a document becomes a node: plain data in, plain data " +
			"out"},
	{packages: list("conductor/host"),
		may: list("decisions, conductor/host/firmware, conductor/host/translate, conductor/documents/yamljson, " +
			"proto/*"),
		why: "decisions: plain data in, plain data out"},
	{packages: list("conductor/host/reconciler"),
		may: list("decisions, conductor/host/*, conductor/documents/objects, conductor/documents/yamljson, " +
			"conductor/seal, proto/*"),
		tests: list("conductor/engine, conductor/bmc/*, conductor/store"), why: "acts for host, by the engine's verbs"},
	{packages: list("conductor/host/remote"),
		may: list("decisions, conductor/host/*, conductor/documents/objects, conductor/documents/yamljson, " +
			"conductor/seal, proto/*"),
		why: "has other leaders act for host; knows no cluster"},

	{packages: list("conductor/engine"), may: list("decisions, conductor/engine/*, proto/*"),
		tests: list("conductor/agents, conductor/bmc/manual, conductor/exchange, conductor/neutron, " +
			"conductor/neutron/neutrontest, conductor/store, conductor/traces"),
		why: "puts its parts together"},
	{packages: list("conductor/engine/lanes"), why: "whose turn it is: counts, and knows no nodes"},
	{packages: list("conductor/engine/core"), may: list("decisions, conductor/engine/lanes, proto/*"),
		why: "the only writer of nodes; knows interfaces, not drivers"},
	{packages: list("conductor/engine/hardware, conductor/engine/imports, conductor/engine/jobs, " +
		"conductor/engine/powersync, conductor/engine/ramdisk, conductor/engine/records"),
		may: list("decisions, conductor/engine/core, conductor/engine/lanes, proto/*"),
		why: "parts that rest on the core, and on no other part"},

	{packages: list("conductor/store"), may: list("decisions, conductor/documents/objects, conductor/seal, proto/*"),
		tests: list("conductor/store/*"), why: "records in SQL; decides nothing"},
	{packages: list("conductor/store/mem"),
		may: list("decisions, conductor/store, conductor/documents/objects, conductor/seal, proto/*"),
		why: "the same records in memory, for simulations"},
	{packages: list("conductor/store/broken"),
		may: list("decisions, conductor/store, conductor/documents/objects, conductor/seal, proto/*"),
		why: "a store that fails on demand"},
	{packages: list("conductor/store/postgrestest"), why: "a server for tests; knows no store"},
	{packages: list("conductor/store/largesite, conductor/store/storetest"),
		may: list("decisions, conductor/store, conductor/documents/objects, conductor/seal, proto/*"),
		why: "contents and tests for every store"},

	{packages: list("conductor/bmc, conductor/bmc/bmctest"),
		may: list("conductor/bmc/*, conductor/cacert, conductor/dial, conductor/exchange, conductor/fsm, " +
			"conductor/node, proto/*"),
		why: "puts the drivers together; one suite for all"},
	{packages: list("conductor/bmc/driverinfo"), may: list("conductor/cacert, conductor/fsm, conductor/node, proto/*"),
		why: "settings of a node, checked once for all drivers"},
	{packages: list("conductor/bmc/sol"), why: "serial over LAN: packets in, packets out; no clock, no I/O"},
	{packages: list("conductor/bmc/sshline"), may: list("conductor/dial"), tests: list("lab/redfish/*"),
		why: "a serial line behind SSH; knows neither nodes nor Redfish"},
	{packages: list("conductor/bmc/vendor, conductor/bmc/controller"), may: list("conductor/fsm, conductor/node, " +
		"proto/*"),
		why: "names of makers and of storage controllers"},
	{packages: list("conductor/bmc/redfish, conductor/bmc/ipmi, conductor/bmc/manual, conductor/bmc/fake"),
		may: list("conductor/bmc/controller, conductor/bmc/driverinfo, conductor/bmc/sol, conductor/bmc/sshline, " +
			"conductor/bmc/vendor, conductor/cacert, conductor/dial, conductor/exchange, conductor/fsm, conductor/node, " +
			"proto/*"),
		tests: list("conductor/api, conductor/bmc, conductor/engine, conductor/plan, lab/*"),
		why:   "a driver imports no other driver"},

	{packages: list("conductor/bmc/savedtree"),
		may:   list("proto/placeholder"),
		tests: list("conductor/bmc/redfish, conductor/node, lab/bmccheck, lab/recorded"),
		why:   "documents in, an archive out; asks nobody"},
	{packages: list("conductor/bmc/doctor"),
		may: list("conductor/bmc/savedtree, conductor/bmc/redfish, conductor/bmc/ipmi, conductor/bmc/controller, " +
			"conductor/bmc/driverinfo, " +
			"conductor/bmc/sol, conductor/bmc/sshline, conductor/bmc/vendor, conductor/cacert, conductor/dial, " +
			"conductor/exchange, " +
			"conductor/fsm, conductor/node, proto/*"),
		tests: list("lab/recorded"), why: "the drivers before one BMC, without a conductor"},

	{packages: list("conductor/documents/events"), may: list("proto/*"), why: "keeps events; decides none"},
	{packages: list("conductor/documents/yamljson"), why: "knows no documents"},
	{packages: list("conductor/documents/objects"), may: list("conductor/seal, proto/*"),
		why: "keeps documents of every kind"},
	{packages: list("conductor/documents/kube"),
		may: list("conductor/documents/objects, conductor/documents/yamljson, conductor/auth, conductor/ratelimit, " +
			"conductor/reload, conductor/seal, proto/*"),
		tests: list("conductor/store"), why: "the Kubernetes API; knows no nodes"},

	{packages: list("conductor/agents"),
		may: list("decisions, conductor/engine/*, conductor/ratelimit, conductor/cacert, conductor/dial, " +
			"conductor/exchange, proto/*"),
		tests: list("conductor/outbound"), why: "the agent's protocol, before the engine"},
	{packages: list("conductor/api/rest"), may: list("conductor/auth, conductor/ratelimit, conductor/reload, proto/*"),
		why: "a REST API over any record; knows no node"},
	{packages: list("conductor/api/*"),
		may: list("decisions, conductor/api/*, conductor/engine/*, conductor/auth, conductor/console, conductor/events, " +
			"conductor/documents/objects, conductor/seal, conductor/ratelimit, conductor/reload, proto/*"),
		tests: list("conductor/agents, conductor/audit, conductor/bootlog, conductor/store"),
		why:   "Ironic's REST API, before the engine"},
	{packages: list("conductor/api/gophercloudtest"),
		tests: list("conductor/agents, conductor/api, conductor/api/rest, conductor/auth, conductor/bmc/redfish, " +
			"conductor/engine, conductor/plan, lab/qemu, lab/redfish, proto/nodeapi"),
		why: "gophercloud before the API; tests alone"},
	{packages: list("conductor/auth"), may: list("conductor/ratelimit, conductor/reload, proto/*"),
		why: "users, roles and projects; knows no nodes"},
	{packages: list("conductor/keystone"), may: list("conductor/auth, conductor/ratelimit, conductor/reload, proto/*"),
		why: "asks Keystone; decides nothing"},
	{packages: list("conductor/neutron/neutrontest"), why: "a Neutron in memory; tests alone"},
	{packages: list("conductor/neutron"), may: list("decisions, proto/*"),
		tests: list("conductor/neutron/neutrontest, lab/openstack"),
		why:   "has Neutron change networks; decides nothing"},
	{packages: list("conductor/glance"), may: list("conductor/imagesource"), direct: true,
		why: "asks Glance; decides nothing"},
	{packages: list("conductor/certificate/*"), may: list("conductor/certificate/*, conductor/reload"),
		why: "TLS; knows no requests"},
	{packages: list("conductor/cluster"), may: list("decisions, conductor/documents/objects, conductor/seal, " +
		"conductor/store, proto/*"), tests: list("conductor/store/*"),
		why: "who leads, and who is asked; knows neither nodes nor resources"},
	{packages: list("conductor/cluster/sharing"), may: list("decisions, conductor/cluster, conductor/datafolder, " +
		"conductor/documents/objects, conductor/imagestore, conductor/keys, conductor/seal, conductor/store, " +
		"images/disk/*, proto/*"),
		why: "keys, certificate and images of all members; knows neither nodes nor settings"},
	{packages: list("conductor/handover"), may: list("decisions, conductor/engine/*, conductor/bootlog, " +
		"conductor/store, conductor/documents/objects, conductor/seal, proto/*"),
		why: "what a leader has seen, for the next one; decides nothing"},
	{packages: list("conductor/datafolder"), may: list("decisions, conductor/keys, conductor/store, " +
		"conductor/documents/objects, conductor/seal, proto/*"),
		why: "files and locks of a conductor, and how its database is opened; knows no settings"},
	{packages: list("conductor/nodecheck"), may: list("conductor/fsm, conductor/node, conductor/cacert, " +
		"conductor/bmc/driverinfo, proto/*"), why: "names nodes that are refused today; changes none"},
	{packages: list("conductor/doctor"), may: list("decisions, conductor/datafolder, conductor/keys, " +
		"conductor/store, conductor/documents/objects, conductor/seal, proto/*"),
		why: "looks at a conductor's host; knows interfaces, not drivers"},
	{packages: list("conductor/backup"), may: list("decisions, conductor/backup/format, conductor/cluster, " +
		"conductor/cluster/sharing, conductor/datafolder, conductor/documents/objects, conductor/imagestore, " +
		"conductor/keys, conductor/seal, conductor/store, images/disk/*, proto/*"),
		why: "saves and restores what a conductor keeps; knows no settings"},
	{packages: list("conductor/backup/format, conductor/cacert, conductor/clock, conductor/dial, conductor/floating, " +
		"conductor/keys, conductor/localfile, conductor/outbound, conductor/ratelimit, conductor/reload, conductor/seal"),
		why: "usable alone"},
	{packages: list("conductor/audit"), may: list("conductor/fsm, conductor/node, proto/*"),
		tests: list("conductor/store/*, conductor/store"), why: "writes down requests; decides nothing"},
	{packages: list("conductor/webhooks"), may: list("conductor/fsm, conductor/node, conductor/reload, proto/*"),
		tests: list("conductor/store/mem, conductor/outbound"), why: "passes events on; makes none"},
	{packages: list("conductor/nova"), may: list("conductor/fsm, conductor/node, proto/*"),
		why: "passes power changes on; makes none"},
	{packages: list("conductor/events"), may: list("decisions, conductor/engine/*, conductor/documents/objects, " +
		"conductor/seal, proto/*"),
		tests: list("conductor/store, conductor/store/mem"), why: "tells of changes; makes none"},
	{packages: list("conductor/metrics"), may: list("conductor/fsm, conductor/node, proto/*"),
		why: "counts; asks nobody for anything that costs"},
	{packages: list("conductor/ui"), tests: list("conductor/node"), why: "the web interface's files; knows no node"},
	{packages: list("conductor/exchange"), why: "tells of requests to machines; sends none"},
	{packages: list("conductor/exchangelog"), may: list("conductor/fsm, conductor/node, conductor/exchange, proto/*"),
		why: "remembers requests to machines; sends none"},
	{packages: list("conductor/traces"), may: list("conductor/fsm, conductor/node, conductor/exchange, proto/*"),
		why: "makes spans of what others say; decides nothing"},
	{packages: list("conductor/traces/tracestest"), why: "a collector for tests; tests alone"},
	{packages: list("conductor/console"), why: "shares lines of bytes; knows neither nodes nor protocols"},
	{packages: list("conductor/bootlog"), may: list("proto/*"), why: "files of text; knows names, not nodes"},
	{packages: list("conductor/imagestore"), may: list("images/disk/*"),
		why: "bytes of images by digest; knows neither names nor nodes"},
	{packages: list("conductor/imagesource"), may: list("conductor/fsm, conductor/node, conductor/localfile, " +
		"conductor/imagestore, images/disk/*, proto/*"), tests: list("conductor/glance"),
		why: "where images are, not their use"},
	{packages: list("conductor/imagelibrary"), may: list("conductor/fsm, conductor/node, conductor/imagestore, " +
		"images/disk/*, proto/*"), why: "names of images and their bytes; knows no deploys"},
	{packages: list("conductor/imagelibrary/librarytest"), may: list("conductor/fsm, conductor/node, " +
		"conductor/imagestore, conductor/imagelibrary, images/disk/*, proto/*"), why: "libraries for tests"},
	{packages: list("conductor/configdrive"), may: list("conductor/fsm, conductor/node, images/configdrive, " +
		"images/fat, images/iso"),
		why: "config drives of nodes"},
	{packages: list("conductor/bootpolicy"),
		may: list("decisions, conductor/engine/*, conductor/localfile, images/bootiso, images/fat, images/iso, " +
			"proto/*, pxe, pxe/watch"),
		why: "the only bridge from boot to nodes"},
	{packages: list("conductor/bootmedia"),
		may: list("decisions, proto/*, pxe, images/bootiso, images/fat, images/iso"),
		why: "images of virtual drives, composed as they are read"},

	{packages: list("pxe/*"), may: list("pxe/*, proto/clientaddr, proto/connlimit"), why: "boot knows nothing of nodes"},
	{packages: list("agent/*"), may: list("agent/*, proto/*, images/disk/*, images/configdrive, images/fat, " +
		"images/iso"),
		why: "a small ramdisk"},

	{packages: list("lab/network"), why: "a network namespace; knows no machines"},
	{packages: list("lab/qemu/*"), may: list("lab/qemu/*"), why: "a machine with a power button; knows no conductor"},
	{packages: list("lab/redfish/*"), may: list("lab/redfish/*, lab/qemu/*"),
		why: "a BMC before a machine; knows no conductor"},
	{packages: list("lab/agenttest"), may: list("proto/*"), why: "agents of simulated machines; knows no conductor"},
	{packages: list("lab/osimage/*"), may: list("lab/osimage/*, images/*, agent/*, proto/*"),
		why: "operating systems for machines to boot"},
	{packages: list("lab/*"), may: list("lab/*, agent/*, conductor/*, images/*, proto/*, pxe/*"),
		why: "the machine room and its suites", direct: true},

	{packages: list("lab/e2e/clients, lab/e2e/consoles, lab/e2e/crash, lab/e2e/history, lab/e2e/installed, " +
		"lab/e2e/interop"),
		tests: list("cmd/ferrite/cli, cmd/ferrite/serve, conductor/documents/objects, conductor/node, " +
			"conductor/store, " +
			"images/iso, lab/*, proto/*"),
		why: "suites of the whole program; tests alone"},
	{packages: list("lab/e2e/browser"), tests: list("images/ramdisk/buildcache, lab/*"),
		why: "a machine's life in a browser; tests alone"},
	{packages: list("lab/e2e/scale"),
		tests: list("cmd/ferrite/serve, conductor/keys, conductor/node, conductor/seal, conductor/store, lab/agenttest, " +
			"lab/redfish/*, lab/qemu, proto/*"),
		why: "fills a database as a conductor does; tests alone"},

	{packages: list("cmd/ferrite/cli/*"),
		may:   list("cmd/ferrite/cli/*, cmd/ferrite/flaggroup, cmd/ferrite/secret, proto/*"),
		tests: list("cmd/ferrite/user, conductor/*"), why: "the CLI is a client like any other", direct: true},
	{packages: list("docs"), why: "pages that the program prints"},
	{packages: list("cmd/*"), may: list("agent/*, cmd/*, conductor/*, docs, images/*, lab/*, proto/*, pxe/*"),
		why: "wiring in one place; nobody imports cmd", direct: true},
}

// pure packages do no I/O, keep no time and share nothing.
var pure = list("conductor/fsm, conductor/node, conductor/rules, conductor/plan, conductor/host, " +
	"conductor/host/firmware, conductor/host/translate, proto/rootdevice, proto/netconfig, proto/placeholder")

// refusal names packages of others that ours do not import.
type refusal struct {
	name     string
	packages []string
	refused  []string
	why      string
}

var refusals = []refusal{
	{"pure", pure,
		list("os, net/http, io/ioutil, os/exec, database/sql, log/slog, sync, crypto/rand, math/rand, math/rand/v2"),
		"a pure package does no I/O"},
	{"small", list("agent/*"),
		list("github.com/stmcginnis/gofish, github.com/bougou/go-ipmi, github.com/labstack/echo, " +
			"github.com/diskfs/go-diskfs"), "the ramdisk stays small"},
}

// forTests are packages that only tests import, beside all whose names end in "test".
var forTests = list("conductor/store/broken, conductor/store/largesite, conductor/store/mem")

// list splits names at commas; "decisions" stands for the packages of that name.
func list(names string) (all []string) {
	for name := range strings.SplitSeq(names, ", ") {
		if name == "decisions" {
			all = append(all, decisions...)
		} else {
			all = append(all, name)
		}
	}
	return all
}
