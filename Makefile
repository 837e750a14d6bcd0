# Ferrite. `make` lists the targets.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS   += --no-print-directory

export CGO_ENABLED   := 0
export FERRITE_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ferrite

GOLANGCI := v2.15.0
LINT     := $(FERRITE_CACHE)/bin/golangci-lint-$(GOLANGCI)
NFPM     := v2.45.2
PACKER   := $(FERRITE_CACHE)/bin/nfpm-$(NFPM)
BUILD    := go build -trimpath -buildvcs=false -ldflags '-s -w'
FUZZTIME ?= 10s
OS       ?= tiny

# What each suite needs beside Go, as Debian packages: a line of the table that the suites read, too. Of npm and kubectl
# any will do.
packages = $(filter-out $(if $(shell command -v npm),nodejs npm) $(if $(wildcard /usr/bin/kubectl),kubernetes-client),\
           $(shell awk -F ': *' '$$1 == "$(1)" {print $$2}' lab/suitetest/suites.txt))
PACKAGES := $(call packages,base)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: lab
lab: deps lab-ui build ramdisk ## bring a lab up, take a machine from power-off to its own operating system, stay up (OS=tiny|debian)
	@bin/ferrite-lab up --os $(OS)

# A lab without npm, or far from its registry, is a lab all the same.
.PHONY: lab-ui
lab-ui:
	@if command -v npm >/dev/null && $(MAKE) ui; then :; else echo "the lab has no web interface: it needs npm (make ui)"; fi

.PHONY: lab-down
lab-down: ## end the lab and leave nothing behind
	@if [ -x bin/ferrite-lab ]; then bin/ferrite-lab down; else echo "no lab: bin/ferrite-lab was never built"; fi

.PHONY: test
test: deps ## all that a change must pass: lint, race, unit, end to end (as root)
	@start=$$SECONDS; $(MAKE) lint && $(MAKE) race && $(MAKE) ui-smoke && $(MAKE) e2e && echo "test: ok $$(( SECONDS - start )).0 s"

.PHONY: check
check: ## what every commit must pass: lint, unit tests, documents (no root)
	@start=$$SECONDS; $(MAKE) lint && $(MAKE) unit && echo "check: ok $$(( SECONDS - start )) s"

.PHONY: unit
unit: ## the quick part of the tests
	go test ./...

# The detector would find nothing in these, and take minutes: explorations have one goroutine, sweeps of the API
# make one request at a time, and documents are tried by a conductor in a process of its own. Suites that kill
# conductors run in e2e. SQLite, codecs and hashes keep to their own memory; all that calls them is watched.
# The packages that take longest come first: beside the last one nothing is left to do.
UNWATCHED := modernc.org/... github.com/therootcompany/xz/... github.com/klauspost/compress/... golang.org/x/crypto/...
PLAIN     := ^(TestExplore|TestDocs.*|TestPolicy|TestNoSecretIsShown|TestControlCharactersInEveryBody)$$
# The detector itself ends a program now and then ("ThreadSanitizer: CHECK failed", or a fault in its code). It has found
# nothing then, and what had no result runs once more: the others are cached.
RACE      := CGO_ENABLED=1 go test -race -timeout 30m $(foreach p,$(UNWATCHED),-gcflags='$(p)=-race=false') -skip '$(PLAIN)' ./images/... ./conductor/... ./...
.PHONY: race
race: ## the unit tests under the race detector
	@log=$$(mktemp); trap 'rm -f $$log' EXIT; $(RACE) 2>&1 | tee $$log || { grep -q -e '^ThreadSanitizer: CHECK failed' -e '^SIGSEGV: segmentation violation' $$log && \
	  ! grep -q -e '--- FAIL' -e 'DATA RACE' $$log && $(RACE); }
	go test -run '$(PLAIN)' ./conductor/plan ./conductor/extras/hosts/host ./conductor/api ./cmd/ferrite

# TestE2E begins the names of tests that only the tag e2e adds to a package: race has run the others.
# Cases run two at a time, since two cores hold two machines. Each has a limit of its
# own; go test's must never end first, for it would leave the machines behind.
E2E := go test -count=1 -v -parallel 2 -timeout 6h

# That limit is for a suite that hangs: beside other work one takes ten times as long as alone.
SUITE := go test -count=1 -timeout 3h

.PHONY: e2e
e2e: deps build ramdisk ## real packets, real QEMU machines, real disks (as root)
	$(SUITE) -tags e2e -run '^TestE2E' $$(grep -rl '^func TestE2E' --include=*_test.go . | xargs -n1 dirname | sort -u)
	@$(E2E) -tags e2e -failfast ./lab/e2e

.PHONY: boot-ways
boot-ways: deps build ramdisk ## machines that boot by relay, proxyDHCP, media without DHCP, the firmware's PXE and HTTP, or beside a forger (as root)
	@$(E2E) -tags bootways -run '^TestBootWays' ./lab/e2e

.PHONY: dhcp-test
dhcp-test: deps ## relays, and real firmware beside Debian's dnsmasq, Kea and ISC dhcpd: proxyDHCP, and our settings for them (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,dhcp-test)"
	$(SUITE) -v -tags "e2e ways" -run '^(TestE2ERelays|TestWays)$$' ./pxe/server && echo "dhcp-test: ok"

.PHONY: clients
clients: deps ## every verb and noun of Ironic's own command line
	$(SUITE) -tags clients -run '^TestClients' ./lab/e2e/clients && echo "clients: ok"

.PHONY: keystone-test
keystone-test: deps ## Ironic's own command line through OpenStack's Keystone, and who may do what (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,keystone-test)"
	$(SUITE) -parallel 1 -tags keystone -run '^TestKeystone$$' ./lab/e2e/clients && echo "keystone-test: ok"

.PHONY: proxy-test
proxy-test: deps ## HAProxy and nginx before a conductor, with the files of docs/operate/proxy.md (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,proxy-test)"
	@$(SUITE) -v -tags proxytest -run '^TestProxies$$' ./cmd/ferrite | grep -v 'level=\|^ *=== '

.PHONY: neutron-machine
neutron-machine: deps build ramdisk ## a machine's life at a switch that follows OpenStack's Neutron (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,neutron-machine)"
	@$(E2E) -tags neutron -run '^TestNeutronMachine$$' ./lab/e2e | \
	  awk '/^neutron-machine:/ {last = $$0; next} {print; fflush()} END {if (last) print last}'

.PHONY: neutron-test
neutron-test: deps ## a machine through its networks, by OpenStack's Neutron (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,neutron-test)"
	$(SUITE) -tags neutron -run '^TestDebian$$' ./conductor/extras/openstack/neutron && echo "neutron-test: ok"

.PHONY: import-test
import-test: deps ## nodes of OpenStack's Ironic behind its Keystone, with MariaDB and PostgreSQL, tokens that end (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,import-test)"
	$(SUITE) -tags keystone -run '^TestImport$$' ./lab/e2e/clients && echo "import-test: ok"

.PHONY: glance-test
glance-test: deps ## images of OpenStack's Glance that break off, lie and are taken away while agents read them (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,glance-test)"
	$(SUITE) -tags keystone -run '^TestGlance$$' ./lab/openstack && echo "glance-test: ok"

.PHONY: network-test
network-test: deps build ramdisk ## ramdisks at a switch: tagged bonds with LACP, ports that forward late (as root)
	$(SUITE) -v -tags networks -run '^TestNetworkGuests' ./lab/network/switch && echo "network-test: ok"

.PHONY: e2e-matrix
e2e-matrix: deps build ## machines of every firmware, bus and card, and broken ones, with the ramdisk for real servers (as root)
	@$(MAKE) ramdisk PROFILE=metal
	@$(E2E) -tags matrix -run '^TestMatrix$$' ./lab/e2e

.PHONY: interop
interop: interop-deps build ramdisk ## our conductor with an agent like ironic-python-agent, OpenStack Ironic with our agent (as root)
	$(SUITE) ./lab/e2e/interop
	@$(E2E) -parallel 1 -tags interop -run '^TestIronic' ./lab/e2e

.PHONY: interop-nova
interop-nova: deps build ramdisk ## OpenStack's Nova boots, rebuilds, rescues and deletes a machine through our conductor (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,interop-nova)"
	@$(E2E) -parallel 1 -tags interop -run '^TestNova$$' ./lab/e2e | \
	  awk '/^interop-nova:/ {last = $$0; next} {print; fflush()} END {if (last) print last}'

.PHONY: interop-import
interop-import: interop-deps build ramdisk ## OpenStack Ironic deploys two machines, our conductor takes them over while they run (as root)
	@$(E2E) -parallel 1 -tags interop -run '^TestImport$$' ./lab/e2e | \
	  awk '/^interop-import:/ {last = $$0; next} {print; fflush()} END {if (last) print last}'

.PHONY: interop-deps
interop-deps:
	@$(MAKE) deps PACKAGES="$(PACKAGES) $(call packages,interop)"

.PHONY: bmc-personalities
bmc-personalities: deps build ramdisk ## the driver over BMCs with every personality, and deploys behind three of them (as root)
	@$(E2E) -parallel 1 -tags personalities -run '^TestPersonality$$' ./lab/e2e
	@$(SUITE) -v -run '^TestPersonalities$$' ./conductor/bmc/redfish -real-delays | grep -v 'level=\|^ *=== ' | \
	  awk '/^bmc-personalities:/ {last = $$0; next} {print} END {if (last) print last}'

.PHONY: console-test
console-test: deps ## a machine from firmware to login, watched by serial over LAN and by SSH (as root, once for Debian)
	@$(SUITE) -v -tags consoletest -run '^TestConsoles$$' ./lab/e2e/consoles | grep -v 'level=\|^ *=== ' | \
	  awk '/^console-test:/ {last = $$0; next} {print} END {if (last) print last}'

.PHONY: postgres-test
postgres-test: deps ## PostgreSQL: the store's suite, the simulation, and conductors killed at every single write
	$(SUITE) ./conductor/store/...
	$(SUITE) -run '^TestSimulationOnPostgres$$' ./conductor/engine -sim.postgres 12
	@$(SUITE) -tags e2e -run 'OnPostgres$$' ./lab/e2e/crash -postgres-sample 1 -kills 12 && echo "postgres-test: ok"

# Once more with every trouble a freeze of the leader: FREEZES=100. FIGURES=1 writes the table of the documents.
.PHONY: cluster-test
cluster-test: deps ## three conductors on PostgreSQL that are killed, frozen, cut off and stopped, against a ledger
	@$(SUITE) -v -tags cluster -run '^TestHistory$$' ./lab/e2e/history \
	  -nodes $(or $(NODES),240) $(if $(FREEZES),-freezes -troubles $(FREEZES),-troubles 27) $(if $(FIGURES),-update) | grep -v '^ *=== ' | \
	  awk '/^cluster:/ {last = $$0; next} {print} END {if (last) print last}'
	@$(if $(FIGURES),go test -count=1 -run '^TestTable$$' ./lab/e2e/history -update)

.PHONY: soak
soak: deps ## an hour of 200 lives a minute on three conductors that are killed: nothing lost, nothing grows; SOAK=5m
	@go test -count=1 -v -timeout 12h -tags cluster -run '^TestSoak$$' ./lab/e2e/history -nodes 240 -soak $(or $(SOAK),1h) | \
	  grep -v '^ *=== ' | awk '/^soak:/ {last = $$0; next} {print} END {if (last) print last}'

.PHONY: takeover-test
takeover-test: deps build ramdisk ## machines, DHCP clients and kubectl whose conductor is killed again and again (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,takeover-test)"
	@$(E2E) -parallel 1 -tags takeover -run '^TestTakeover' ./lab/e2e | grep -v '^ *=== ' | \
	  awk '/^takeover: ok/ {last = $$0; next} {print} END {if (last) print last}'

.PHONY: lint
lint: $(LINT) ## gofmt, vet and the rules of .golangci.yml
	$(LINT) run ./...

$(LINT):
	@mkdir -p $(@D)
	GOBIN=$(@D) GOFLAGS=-buildvcs=false go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	mv $(@D)/golangci-lint $@

# On a busy machine Go's fuzzer may end a run that found nothing with "context deadline
# exceeded"; a real failure names the input it wrote, or comes from the seeds.
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s) each: some fifteen minutes in all
	@failed=""; log=$$(mktemp); trap 'rm -f $$log' EXIT; \
	for p in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "fuzz $$p $$f"; \
	    go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p >$$log 2>&1 && continue; \
	    grep -q '^    context deadline exceeded$$' $$log && ! grep -q 'Failing input' $$log && continue; \
	    cat $$log; failed="$$failed $$p.$$f"; done; done; \
	[ -z "$$failed" ] || { echo "fuzz: failed:$$failed"; exit 1; }; echo "fuzz: ok"

# Which packages have golden files is told by their flag; others do not take it.
.PHONY: golden
golden: ## rewrite the golden files and the diagram; look at the diff
	go test $$(grep -rlF -e 'flag.Bool("update"' -e 'pxetest.UpdateFlag()' --include='*_test.go' . | xargs -n1 dirname | sort -u) -update

.PHONY: build
build: ## the three programs, static, into bin/
	@mkdir -p bin
	@echo "building the three programs (a minute or two the first time)"
	@$(BUILD) -o bin/ ./cmd/ferrite ./cmd/ferrite-agent ./cmd/ferrite-lab

# The web interface needs Node.js 18 or newer and npm; everything else is built without them. SHOTS=DIR keeps pictures.
UI := conductor/api/ui/web
$(UI)/node_modules/.package-lock.json: $(UI)/package.json $(UI)/package-lock.json
	@$(MAKE) -s deps PACKAGES="$(call packages,npm)"
	@cd $(UI) && npm ci --loglevel error

.PHONY: ui
ui: $(UI)/node_modules/.package-lock.json ## the web interface, which the next `make build` has in it (needs npm)
	@cd $(UI) && npm run --silent check && npm run --silent build

.PHONY: ui-unit
ui-unit: $(UI)/node_modules/.package-lock.json ## the web interface's types and unit tests
	@cd $(UI) && npm run --silent check && npm run --silent test

.PHONY: ui-test
ui-test: ui-unit ui build ## the web interface in Chromium: every page, width and theme, keys alone, hostile texts (SHOTS=DIR)
	@$(MAKE) -s deps PACKAGES="$(call packages,ui-test)"
	@cd $(UI) && SHOTS=$(if $(SHOTS),$(abspath $(SHOTS))) node browser/run.mjs

.PHONY: ui-smoke
ui-smoke: ui-unit ui build ## half a minute of that, for `make test`; it installs npm and Chromium where they are missing
	@$(MAKE) -s deps PACKAGES="$(call packages,ui-test)"
	@cd $(UI) && PAGES=machines-list,machine-now ONLY=pages,machines node browser/run.mjs

# HANDS=mouse or HANDS=keyboard walks once.
.PHONY: ui-machine
ui-machine: deps ui build ramdisk ## a QEMU machine from an empty conductor to its system and back, in Chromium (as root, SHOTS=DIR)
	@$(MAKE) -s deps PACKAGES="$(call packages,ui-test)"
	@SHOTS=$(if $(SHOTS),$(abspath $(SHOTS))) $(SUITE) -v -tags uimachine -run '^TestMachineInBrowser$$' \
	  ./lab/e2e/browser | grep -v '^ *=== '

# NODES=100000 takes more of them. The figures are of docs/benchmarks.md.
.PHONY: ui-bench
ui-bench: ui build ## the web interface with 10,000 machines: first rows, filters, events on the screen (NODES=N)
	@$(MAKE) -s deps PACKAGES="$(call packages,ui-test)"
	@cd $(UI) && NODES=$(or $(NODES),10000) node browser/bench.mjs

.PHONY: release
release: ui build ## bin/release/ferrite, with agent and console commands inside: it builds ramdisks on any server
	@mkdir -p bin/release
	@go run ./images/ramdisk/bundle/pack bin/ferrite-agent images/ramdisk/bundle/files
	@$(BUILD) -tags bundled -o bin/release/ ./cmd/ferrite
	@ls -l bin/release/ferrite | awk '{printf "release: ok bin/release/ferrite %.1f MB\n", $$5 / 1e6}'

# The time of every file in a package: two builds of one commit are the same, byte by byte.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
.PHONY: packages
packages: release $(PACKER) ## a .deb, an .rpm, a tar and an OCI image of ferrite, amd64 and arm64, into bin/packages
	@rm -rf bin/packages && mkdir -p bin/packages
	@for a in amd64 arm64; do GOARCH=$$a $(BUILD) -tags bundled -o bin/packages/programs/$$a/ ./cmd/ferrite; done
	@go run ./cmd/ferrite-pack --nfpm $(PACKER)

.PHONY: packages-test
packages-test: deps packages ## the packages: in a fresh Debian root, in a machine with systemd, by rpm and skopeo (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,packages-test)"
	@$(SUITE) -v -tags packagestest -run '^TestSystemd$$' ./lab/e2e/installed | grep -v '^ *=== '
	@$(SUITE) -v -tags packagestest -run '^TestPackages$$' ./cmd/ferrite-pack | grep -v '^ *=== ' | \
	  awk '/^packages: ok/ {last = $$0; next} {print} END {if (last) print last}'

$(PACKER):
	@mkdir -p $(@D)
	GOBIN=$(@D) GOFLAGS=-buildvcs=false go install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM)
	mv $(@D)/nfpm $@

# IMAGE_TEST_MIRROR=URL builds from a mirror; without it apt of this machine fetches what is asked for.
.PHONY: image-test
image-test: deps release ## a ramdisk with firmware, built from Debian's packages where there is nothing but ferrite (as root)
	@$(SUITE) -v -tags imagetest -run '^TestImage$$' ./images/ramdisk && echo "image-test: ok"

.PHONY: man
man: build ## a man page of each command, into bin/man/man1
	@bin/ferrite docs --man bin/man/man1

.PHONY: ramdisk
ramdisk: build ## the lab's kernel and ramdisk, into bin/ramdisk (PROFILE=lab|metal)
	@bin/ferrite image build --profile $(or $(PROFILE),lab) --agent bin/ferrite-agent --out bin/ramdisk

.PHONY: bench
bench: deps build ramdisk ## measure sizes, boot times and speeds
	@go test -run '^$$' -bench . -benchtime 2s ./images/disk ./conductor/store ./conductor/api ./conductor/extras/hosts/reconciler ./conductor/extras/hosts/kube | grep -E '^(Benchmark|ok|FAIL)'
	@go run ./lab/imagebench
	@$(E2E) -tags e2e -run '^TestMeasured' -bench . -benchtime 1x ./lab/e2e -solo

# COMPARE="-only images/disk -rounds 5" runs a part of it more often.
.PHONY: bench-compare
bench-compare: deps ## the ratio of each figure of bench to that of another commit (BASE=COMMIT; as root)
	@go run ./lab/benchcompare -base "$(BASE)" $(COMPARE)

.PHONY: bench-dhcp
bench-dhcp: deps build ## new clients a second, with no lease and with 60,000, unknown and enrolled, beside Debian's Kea (as root)
	@$(MAKE) -s deps PACKAGES="$(call packages,bench-dhcp)"
	@$(SUITE) -tags dhcpbench -run '^TestMeasuredDHCP$$' -v ./lab/dhcpbench -ferrite $(CURDIR)/bin/ferrite | grep clients/s

# SCALE="-nodes 20000 -machines 2000" measures less. The figures are of docs/benchmarks.md.
SCALE ?= -nodes 100000 -beat 5m -power 30m -steady 5m -kills 3 -machines 10000 -at-a-time 400 -rate 1000 \
         -booting 1000 -kernel-size 8200000 -ramdisk-size 27700000
.PHONY: bench-scale
bench-scale: deps ## three conductors, PostgreSQL, 100,000 nodes, 10,000 discovered, 1,000 that boot at once (as root)
	@$(SUITE) -v -tags e2e -run '^TestE2EScale' ./lab/e2e/scale $(SCALE) | grep -v '^ *=== '

# Debian starts the servers that it installs (PostgreSQL, Prometheus, DHCP, Ironic), unless this file forbids it.
POLICY := /usr/sbin/policy-rc.d
.PHONY: deps
deps: ## install what is missing (Debian packages, as root)
	@missing=$$(for p in $(PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	[ -z "$$missing" ] && exit 0; \
	[ "$$(id -u)" = 0 ] || { echo "these packages are missing, and only root can install them:" $$missing; exit 1; }; \
	if [ ! -e $(POLICY) ]; then trap 'rm -f $(POLICY)' EXIT; printf '#!/bin/sh\nexit 101\n' >$(POLICY); chmod 755 $(POLICY); fi; \
	echo "installing:" $$missing; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null

.PHONY: clean
clean: ## remove bin/
	rm -rf bin
