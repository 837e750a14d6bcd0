// Package suites is the table of the suites of tests (suites.go), and of the programs that they need, by Debian package
// (programs.txt).
//
// It must not run anything.
package suites

import "slices"

// A Suite is a row of the table: tests that need more than Go, or more time than each change has. `make e2e SUITE=NAME`
// runs one; `make NAME` does the same.
type Suite struct {
	Name     string
	About    string // one line for `make suites`
	For      string // changes that call for it
	Takes    string // on two cores without other work
	Root     bool   // it makes network namespaces, devices or machines, and needs the packages of base
	Packages string // Debian packages of its own
	Builds   string // targets of make that come first
	Run      string // commands for bash, run in the top folder; settings of make (NODES=...) are in the environment
	Last     string // beginning of the line that its tests print at the end; "" where the runner prints "NAME: ok"
}

// The limits are for suites that hang: beside other work one takes ten times as long as alone.
const (
	gotest = "go test -count=1 -timeout 3h "
	// machines runs cases two at a time, since two cores hold two machines. Each case has a limit of its own; go test's
	// must never end first, for it would leave the machines behind.
	machines = "go test -count=1 -v -parallel 2 -timeout 6h "
	// SHOTS=DIR keeps pictures of the pages.
	shots   = "export SHOTS=${SHOTS:+$(realpath -m \"$SHOTS\")}; "
	browser = shots + "cd conductor/api/ui/web && "
)

// All is the table, in the order of `make suites`. A name stands alone in its line, since the Makefile reads it there.
var All = []Suite{
	{
		Name:  "e2e",
		About: "real packets, QEMU machines, disks, and conductors that are killed",
		For:   "anything; it is a part of `make test`", Takes: "10 min", Root: true,
		Builds: "build ramdisk",
		// TestE2E begins the names of tests that only the tag e2e adds to a package: race has run the others.
		Run: gotest + "-tags e2e -run '^TestE2E'" +
			" $(grep -rl '^func TestE2E' --include=*_test.go . | xargs -n1 dirname | sort -u)\n" +
			machines + "-tags e2e -failfast ./lab/e2e",
		Last: "e2e: ok",
	},
	{
		Name:  "boot-ways",
		About: "machines that boot by relay, proxyDHCP, media without DHCP, PXE, HTTP, or beside a forger",
		For:   "`pxe/`, boot scripts, how agents are known", Takes: "40 min", Root: true,
		Builds: "build ramdisk",
		Run:    machines + "-tags bootways -run '^TestBootWays' ./lab/e2e",
		Last:   "boot-ways: ok",
	},
	{
		Name:  "core-machine",
		About: "a machine from power-off to its own OS, by a conductor that was built without extras",
		For:   "the build tags that leave extras out", Takes: "2 min", Root: true,
		Builds: "build core ramdisk",
		Run:    machines + "-tags e2e -run '^TestMeasuredBIOS$' ./lab/e2e -bin $PWD/bin/core",
	},
	{
		Name:  "dhcp-test",
		About: "relays, and firmware beside Debian's dnsmasq, Kea and ISC dhcpd: proxyDHCP, and our settings for them",
		For:   "`pxe/dhcp`, `pxe/snippet`", Takes: "4 min", Root: true,
		Packages: "kea-dhcp4-server isc-dhcp-server",
		Run:      gotest + "-v -tags 'e2e ways' -run '^(TestE2ERelays|TestWays)$' ./pxe/server",
	},
	{
		Name:  "network-test",
		About: "ramdisks at a switch: tagged bonds with LACP, ports that forward late",
		For:   "networks of the ramdisk", Takes: "3 min", Root: true,
		Builds: "build ramdisk",
		Run:    gotest + "-v -tags networks -run '^TestNetworkGuests' ./lab/network/switch",
	},
	{
		Name:  "e2e-matrix",
		About: "machines of every firmware, bus and card, and broken ones, with the ramdisk for real servers",
		For:   "the metal ramdisk, the agent's disks", Takes: "40 min", Root: true,
		Builds: "build ramdisk PROFILE=metal",
		Run:    machines + "-tags matrix -run '^TestMatrix$' ./lab/e2e",
		Last:   "e2e-matrix: ok",
	},
	{
		Name:  "bmc-personalities",
		About: "the driver over BMCs with every personality, and deploys behind three of them",
		For:   "the Redfish driver", Takes: "10 min", Root: true,
		Builds: "build ramdisk",
		Run: machines + "-parallel 1 -tags personalities -run '^TestPersonality$' ./lab/e2e\n" +
			gotest + "-v -run '^TestPersonalities$' ./conductor/bmc/redfish -real-delays",
		Last: "bmc-personalities:",
	},
	{
		Name:  "console-test",
		About: "a machine from firmware to login, watched by serial over LAN and by SSH",
		For:   "consoles", Takes: "3 min", Root: true,
		Run:  gotest + "-v -tags consoletest -run '^TestConsoles$' ./lab/e2e/consoles",
		Last: "console-test: ok",
	},
	{
		Name:  "clients",
		About: "every verb and noun of Ironic's own command line",
		For:   "the REST API", Takes: "5 min", Root: true,
		Run: gotest + "-tags clients -run '^TestClients' ./lab/e2e/clients",
	},
	{
		Name:  "keystone-test",
		About: "Ironic's own command line through OpenStack's Keystone, and the rights of each token",
		For:   "logins with OpenStack's tokens", Takes: "10 min", Root: true,
		Packages: "keystone",
		Run:      gotest + "-parallel 1 -tags keystone -run '^TestKeystone$' ./lab/e2e/clients",
	},
	{
		Name:  "glance-test",
		About: "images of OpenStack's Glance that break off, lie and are taken away while agents read them",
		For:   "images of OpenStack", Takes: "3 min", Root: true,
		Packages: "keystone glance-api",
		Run:      gotest + "-tags keystone -run '^TestGlance$' ./lab/openstack",
	},
	{
		Name:  "neutron-test",
		About: "a machine through its networks, by OpenStack's Neutron",
		For:   "networks by OpenStack's Neutron", Takes: "1 min", Root: true,
		Packages: "neutron-server",
		Run:      gotest + "-tags neutron -run '^TestDebian$' ./conductor/extras/openstack/neutron",
	},
	{
		Name:  "neutron-machine",
		About: "a machine's life at a switch that follows OpenStack's Neutron",
		For:   "networks by OpenStack's Neutron", Takes: "4 min", Root: true,
		Packages: "neutron-server", Builds: "build ramdisk",
		Run:  machines + "-tags neutron -run '^TestNeutronMachine$' ./lab/e2e",
		Last: "neutron-machine: ok",
	},
	{
		Name:  "interop",
		About: "our conductor with an agent like ironic-python-agent, OpenStack Ironic with our agent",
		For:   "the agent's protocol", Takes: "3 min", Root: true,
		Packages: "ironic-api ironic-conductor", Builds: "build ramdisk",
		Run: gotest + "./lab/e2e/interop\n" +
			machines + "-parallel 1 -tags interop -run '^TestIronic' ./lab/e2e",
		Last: "interop: ok",
	},
	{
		Name:  "peer-test",
		About: "tempest's tests of Ironic's API, gophercloud's acceptance tests, a machine's life by Metal3's operator",
		For:   "the REST API", Takes: "15 min", Root: true,
		// OPERATOR=DIR takes a checkout of the operator's repository in the place of the released module.
		Packages: "tempest ironic-tempest-plugin", Builds: "build ramdisk",
		Run:  machines + "-parallel 1 -tags peers -run '^TestPeers$' ./lab/e2e",
		Last: "peer: ok",
	},
	{
		Name:  "interop-nova",
		About: "OpenStack's Nova boots, rebuilds, rescues and deletes a machine through our conductor",
		For:   "how OpenStack's services find and use the conductor", Takes: "10 min", Root: true,
		Packages: "keystone glance-api neutron-server placement-api nova-api nova-common nova-conductor nova-scheduler " +
			"nova-compute nova-compute-ironic mariadb-server-core mariadb-client-core rabbitmq-server erlang-base",
		Builds: "build ramdisk",
		Run:    machines + "-parallel 1 -tags interop -run '^TestNova$' ./lab/e2e",
		Last:   "interop-nova: ok",
	},
	{
		Name:  "interop-import",
		About: "OpenStack Ironic deploys two machines, our conductor takes them over while they run",
		For:   "`ferrite import`, the power sync of imported nodes", Takes: "5 min", Root: true,
		Packages: "ironic-api ironic-conductor", Builds: "build ramdisk",
		Run:  machines + "-parallel 1 -tags interop -run '^TestImport$' ./lab/e2e",
		Last: "interop-import: ok",
	},
	{
		Name:  "import-test",
		About: "nodes of OpenStack's Ironic behind its Keystone, with MariaDB and PostgreSQL, tokens that end",
		For:   "how `ferrite import` logs in, and reads databases", Takes: "5 min", Root: true,
		Packages: "keystone ironic-api ironic-conductor mariadb-server-core mariadb-client-core python3-psycopg2 " +
			"python3-pymysql",
		Run: gotest + "-tags keystone -run '^TestImport$' ./lab/e2e/clients",
	},
	{
		Name:  "proxy-test",
		About: "HAProxy and nginx before a conductor, with the files of docs/operate/proxy.md",
		For:   "`proto/clientaddr`, `proto/connlimit`, the page about proxies", Takes: "1 min", Root: true,
		Packages: "haproxy nginx libnginx-mod-stream",
		Run:      gotest + "-v -tags proxytest -run '^TestProxies$' ./cmd/ferrite",
		Last:     "proxy-test: ok",
	},
	{
		Name:  "postgres-test",
		About: "PostgreSQL: the store's suite, the simulation, and conductors killed at every single write",
		For:   "the store", Takes: "15 min", Root: true,
		Run: gotest + "./conductor/store/...\n" +
			gotest + "-run '^TestSimulationOnPostgres$' ./conductor/engine -sim.postgres 12\n" +
			gotest + "-tags e2e -run 'OnPostgres$' ./lab/e2e/crash -postgres-sample 1 -kills 12",
	},
	{
		Name:  "cluster-test",
		About: "three conductors on PostgreSQL that are killed, frozen, cut off and stopped, against a ledger",
		For:   "several conductors on one database", Takes: "15 min", Root: true,
		// FREEZES=100 freezes the leader a hundred times instead. FIGURES=1 writes the table of the documents.
		Run: gotest + "-v -tags cluster -run '^TestHistory$' ./lab/e2e/history -nodes ${NODES:-240}" +
			" ${FREEZES:+-freezes} -troubles ${FREEZES:-27} ${FIGURES:+-update}\n" +
			"[ -z \"${FIGURES:-}\" ] || go test -count=1 -run '^TestTable$' ./lab/e2e/history -update",
		Last: "cluster: ok",
	},
	{
		Name:  "soak",
		About: "200 lives a minute on three conductors that are killed: nothing lost, nothing grows (SOAK=1h)",
		For:   "a release; `SOAK=5m` while you work on it", Takes: "1 h", Root: true,
		Run: "go test -count=1 -v -timeout 12h -tags cluster -run '^TestSoak$' ./lab/e2e/history" +
			" -nodes 240 -soak ${SOAK:-1h}",
		Last: "soak: ok",
	},
	{
		Name:  "takeover-test",
		About: "machines, DHCP clients and kubectl while conductors are killed again and again",
		For:   "several conductors, boot services, a new leader", Takes: "15 min", Root: true,
		Packages: "kea-admin", Builds: "build ramdisk",
		Run:  machines + "-parallel 1 -tags takeover -run '^TestTakeover' ./lab/e2e",
		Last: "takeover: ok",
	},
	{
		Name:  "image-test",
		About: "a ramdisk with firmware, built from Debian's packages where there is nothing but ferrite",
		For:   "the fetching of packages, firmware, `make release`", Takes: "3 min", Root: true,
		// IMAGE_TEST_MIRROR=URL builds from a mirror; without it apt of this machine fetches the packages.
		Builds: "release",
		Run:    gotest + "-v -tags imagetest -run '^TestImage$' ./images/ramdisk",
	},
	{
		Name:  "packages-test",
		About: "the packages: in a fresh Debian root, in a machine with systemd, by rpm and skopeo",
		For:   "`cmd/ferrite-pack`, the unit, `ferrite server setup`", Takes: "10 min", Root: true,
		Packages: "rpm skopeo systemd util-linux", Builds: "packages",
		Run: gotest + "-v -tags packagestest -run '^TestSystemd$' ./lab/e2e/installed\n" +
			gotest + "-v -tags packagestest -run '^TestPackages$' ./cmd/ferrite-pack",
		Last: "packages: ok",
	},
	{
		Name:  "ui-test",
		About: "the web interface in Chromium: every page, width and theme, keys alone, hostile texts (SHOTS=DIR)",
		For:   "`conductor/api/ui`, answers of the API to browsers", Takes: "10 min",
		Packages: "chromium", Builds: "ui-unit ui build",
		Run:  browser + "node browser/run.mjs",
		Last: "ui: ok",
	},
	{
		Name:  "ui-smoke",
		About: "a part of ui-test, for `make test`",
		For:   "anything; it is a part of `make test`", Takes: "1 min",
		Packages: "chromium", Builds: "ui-unit ui build",
		Run:  browser + "PAGES=machines-list,machine-now ONLY=pages,machines,docs node browser/run.mjs",
		Last: "ui: ok",
	},
	{
		Name:  "ui-machine",
		About: "a QEMU machine from an empty conductor to its system and back, in Chromium (HANDS=mouse, SHOTS=DIR)",
		For:   "`conductor/api/ui`, the verbs of a machine", Takes: "5 min", Root: true,
		Packages: "chromium", Builds: "ui build ramdisk",
		Run: shots + gotest + "-v -tags uimachine -run '^TestMachineInBrowser$' ./lab/e2e/browser",
	},
	{
		Name:  "ui-bench",
		About: "the web interface with 10,000 machines: first rows, filters, events on the screen (NODES=N)",
		For:   "lists of `conductor/api/ui/web`", Takes: "2 min",
		Packages: "chromium", Builds: "ui build",
		Run: browser + "NODES=${NODES:-10000} node browser/bench.mjs",
	},
	{
		Name:  "bench-dhcp",
		About: "new clients a second, with no lease and with 60,000, unknown and enrolled, beside Debian's Kea",
		For:   "speed of `pxe/dhcp`", Takes: "5 min", Root: true,
		Packages: "kea-dhcp4-server", Builds: "build",
		Run: gotest + "-tags dhcpbench -run '^TestMeasuredDHCP$' -v ./lab/dhcpbench -ferrite $PWD/bin/ferrite",
	},
	{
		Name:  "bench-scale",
		About: "three conductors, PostgreSQL, 100,000 nodes, 10,000 discovered, 1,000 that boot at once",
		For:   "speed and size of a large site", Takes: "30 min", Root: true,
		// SCALE="-nodes 20000 -machines 2000" measures less.
		Run: gotest + "-v -tags e2e -run '^TestE2EScale' ./lab/e2e/scale ${SCALE:--nodes 100000 -beat 5m -power 30m" +
			" -steady 5m -kills 3 -machines 10000 -at-a-time 400 -rate 1000 -booting 1000 -kernel-size 8200000" +
			" -ramdisk-size 27700000}",
	},
}

// sets are Debian packages of more than one suite. The packages of everywhere are essential to a Debian, or a test
// skips them and logs it.
var sets = map[string]string{
	"everywhere": "apt bash coreutils dash dpkg groff-base make mount openssl sed tar util-linux",
	"base": "qemu-system-x86 qemu-utils ovmf seabios ipxe ipxe-qemu debootstrap mtools dosfstools xorriso syslinux zstd " +
		"xz-utils curl git kmod fdisk gdisk systemd-boot-efi binutils iproute2 syslinux-common python3 python3-sushy " +
		"openipmi ipmitool gcc libc6-dev ca-certificates python3-ironicclient python3-openstacksdk xfsprogs btrfs-progs " +
		"e2fsprogs mdadm qemu-block-extra dnsmasq-base postgresql prometheus kubernetes-client",
	"npm": "nodejs npm",
}

// Find returns the row of a suite.
func Find(name string) (Suite, bool) {
	i := slices.IndexFunc(All, func(s Suite) bool { return s.Name == name })
	if i < 0 {
		return Suite{}, false
	}
	return All[i], true
}
