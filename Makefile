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
SHOW     := bin/show
FUZZTIME ?= 10s
OS       ?= tiny

.PHONY: help
help:
	@awk -F ' *## *| *[|] *' '/^[a-z0-9-]+:.*## .*[|]/ {sub(":.*", "", $$1); printf "  make %-14s %-4s %7s  %s\n", $$1, $$2, $$3, $$4}' $(MAKEFILE_LIST)

# SHOW runs a long command and shows its progress. Built with the flags of the others, it compiles nothing twice.
$(SHOW): $(wildcard lab/progress/*.go lab/progress/run/*.go)
	@go list -m >/dev/null || { echo "expected the Go of go.mod, or a newer one: docs/install.md has the commands that install it" >&2; exit 1; }
	@mkdir -p bin
	@echo "building bin/show, which shows the progress of the other builds (a minute the first time)"
	@$(BUILD) -o $@ ./lab/progress/run

.PHONY: lab
lab: lab-free deps lab-ui build ramdisk ## root | 1 min | bring a lab up, take a machine from power-off to its own operating system, stay up (OS=tiny, OS=debian)
	@bin/ferrite-lab up --os $(OS)

# A second lab would be refused only after the build.
LAB := $(or $(TMPDIR),/tmp)/ferrite-lab
.PHONY: lab-free
lab-free:
	@[ ! -e $(LAB)/lab.json ] || { url=$$(sed -n 's/^  "url": "\(.*\)",$$/\1/p' $(LAB)/lab.json); \
	  echo "a lab is in $(LAB) already$${url:+: reach it with: export FERRITE_URL=$$url}; end it with: make lab-down" >&2; exit 1; }

# A lab without npm, or far from its registry, is a lab all the same. A source tar has the interface built.
.PHONY: lab-ui
lab-ui:
	@if $(MAKE) -q $(UI_BUILT) || { command -v npm >/dev/null && $(MAKE) ui; }; then :; else \
	  echo "the lab has no web interface: it needs npm (make ui)"; fi

.PHONY: lab-down
lab-down: ## root | | end the lab; say what stays
	@if [ -x bin/ferrite-lab ]; then bin/ferrite-lab down; else echo "no lab: bin/ferrite-lab was never built"; fi

.PHONY: test
test: deps ## root | 20 min | all that a change must pass: lint, race, web interface, end to end
	@start=$$SECONDS; $(MAKE) lint && $(MAKE) race && $(MAKE) ui-smoke && $(MAKE) e2e && echo "test: ok $$(( SECONDS - start )).0 s"

.PHONY: check
check: ## | 5 min | what every commit must pass: lint, unit tests, documents
	@start=$$SECONDS; $(MAKE) lint && $(MAKE) unit && echo "check: ok $$(( SECONDS - start )) s"

.PHONY: unit
unit:
	go test ./...

# The detector would find nothing in these, and take minutes: explorations, readers of the sources and sweeps of one
# function have one goroutine, sweeps of the API make one request at a time, and documents are tried by a conductor in a
# process of its own. Suites that kill conductors run in e2e. SQLite, codecs and hashes keep to their own memory; all
# that calls them is watched.
# The packages that take longest come first: beside the last one nothing is left to do.
UNWATCHED := modernc.org/... github.com/therootcompany/xz/... github.com/klauspost/compress/... golang.org/x/crypto/...
PLAIN     := ^(TestExplore|TestDocs.*|TestPolicy|TestNoSecretIsShown|TestControlCharactersInEveryBody|TestMendTrees|TestMendIsBounded|TestWords|TestHTTPClients)$$
# The detector itself ends a program now and then ("ThreadSanitizer: CHECK failed", or a fault in its code). It has found
# nothing then, and what had no result runs once more: the others are cached.
RACE      := CGO_ENABLED=1 go test -race -timeout 30m $(foreach p,$(UNWATCHED),-gcflags='$(p)=-race=false') -skip '$(PLAIN)' ./images/... ./conductor/... ./...
.PHONY: race
race:
	@log=$$(mktemp); trap 'rm -f $$log' EXIT; $(RACE) 2>&1 | tee $$log || { grep -q -e '^ThreadSanitizer: CHECK failed' -e '^SIGSEGV: segmentation violation' $$log && \
	  ! grep -q -e '--- FAIL' -e 'DATA RACE' $$log && $(RACE); }
	go test -run '$(PLAIN)' ./conductor/plan ./conductor/extras/hosts/host ./conductor/extras/hosts/kube \
	  ./conductor/bmc/redfish ./conductor/api ./cmd/archtest ./cmd/ferrite ./cmd/ferrite/manual

# The suites stand in lab/suites/suites.go, with their packages and commands. `make NAME` runs one, too.
SUITES := $(shell sed -n 's/^\t\tName: *"\(.*\)",$$/\1/p' lab/suites/suites.go)
.PHONY: e2e suites $(SUITES)
e2e: ## root | 10 min | real packets, QEMU machines, disks, kills; SUITE=NAME runs another suite
	@go run ./lab/suites/run $(or $(SUITE),e2e)

suites: ## | | list the suites for SUITE=NAME
	@go run ./lab/suites/run

$(filter-out e2e,$(SUITES)): %:
	@go run ./lab/suites/run $*

.PHONY: lint
lint: $(LINT)
	$(LINT) run ./...
	$(LINT) run --build-tags "$(LEAN)" $$(grep -rlE '^//go:build no' --include=*.go cmd conductor | xargs -n1 dirname | sort -u | sed 's|^|./|')

$(LINT): | $(SHOW)
	@mkdir -p $(@D)
	GOBIN=$(@D) GOFLAGS=-buildvcs=false $(SHOW) golangci-lint go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	mv $(@D)/golangci-lint $@

# On a busy machine Go's fuzzer may end a run that found nothing with "context deadline
# exceeded"; a real failure names the input it wrote, or comes from the seeds.
.PHONY: fuzz
fuzz: ## | 15 min | run every fuzz target for FUZZTIME (10s) each
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
golden: ## | 3 min | rewrite the golden files and the diagram; look at the diff
	go test $$(grep -rlF -e 'flag.Bool("update"' -e 'pxetest.UpdateFlag()' --include='*_test.go' . | xargs -n1 dirname | sort -u) -update

.PHONY: build
build: $(SHOW) ## | 2 min | the three programs, static, into bin/
	@$(SHOW) "the three programs" $(BUILD) -o bin/ ./cmd/ferrite ./cmd/ferrite-agent ./cmd/ferrite-lab

# The links make bin/core a folder like bin/ for suites.
LEAN := nohosts noopenstack nosignals nooperate
.PHONY: core
core: $(SHOW) ## | 1 min | bin/core/ferrite: the program without extras (Metal3, OpenStack, webhooks and traces, backup and setup)
	@mkdir -p bin/core && ln -sfn ../ramdisk bin/core/ramdisk && ln -sf ../ferrite-agent bin/core/
	@$(SHOW) "ferrite without extras" $(BUILD) -tags "$(LEAN)" -o bin/core/ ./cmd/ferrite
	@ls -l bin/core/ferrite | awk '{printf "core: ok bin/core/ferrite %.1f MB\n", $$5 / 1e6}'

# The web interface needs Node.js 18 or newer and npm; everything else is built without them.
UI := conductor/api/ui/web
UI_BUILT := conductor/api/ui/built/index.html.gz
$(UI)/node_modules/.package-lock.json: $(UI)/package.json $(UI)/package-lock.json | $(SHOW)
	@go run ./lab/suites/run -deps npm
	@$(SHOW) "npm ci" npm --prefix $(UI) ci --loglevel error

# Where the sources are older nothing is done: a source tar needs no npm.
$(UI_BUILT): $(shell find $(UI) \( -name node_modules -o -name dist \) -prune -o -type f -print)
	@$(MAKE) --silent $(SHOW) $(UI)/node_modules/.package-lock.json
	@$(SHOW) "types of the web interface" npm --prefix $(UI) run --silent check
	@$(SHOW) "the web interface" npm --prefix $(UI) run --silent build

.PHONY: ui
ui: $(UI_BUILT) ## | 1 min | the web interface, which the next `make build` has in it (needs npm)

.PHONY: ui-unit
ui-unit: $(UI)/node_modules/.package-lock.json
	@cd $(UI) && npm run --silent check && npm run --silent test

# Machines are x86-64, whichever server makes their ramdisk.
.PHONY: bundle
bundle: ui $(SHOW)
	@GOARCH=amd64 $(SHOW) "the agent" $(BUILD) -o bin/bundle/new/ ./cmd/ferrite-agent
	@$(SHOW) "the packer" $(BUILD) -o bin/tools/ ./images/ramdisk/bundle/pack ./cmd/ferrite-pack
	@cmp -s bin/bundle/new/ferrite-agent bin/bundle/ferrite-agent || cp bin/bundle/new/ferrite-agent bin/bundle/
	@$(MAKE) -s images/ramdisk/bundle/files/ferrite-agent.zst

# A rule without commands, since "bundle" makes it: make --dry-run shows a release before there is one.
bin/bundle/ferrite-agent: ;

# The same agent has the same console commands beside it, of the same Go.
images/ramdisk/bundle/files/ferrite-agent.zst: bin/bundle/ferrite-agent go.mod images/ramdisk/commands.go
	@$(SHOW) "console commands of ramdisks" bin/tools/pack $< $(@D)

.PHONY: release
release: build bundle ## | 3 min | bin/release/ferrite, with agent and console commands inside: it builds ramdisks on any server
	@$(SHOW) "ferrite with its ramdisk" $(BUILD) -tags bundled -o bin/release/ ./cmd/ferrite
	@ls -l bin/release/ferrite | awk '{printf "release: ok bin/release/ferrite %.1f MB\n", $$5 / 1e6}'

# The time of every file in a package: two builds of one commit are the same, byte by byte. A source tar has it, too.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y go.mod)
PROGRAM = GOARCH=$(1) $(SHOW) "ferrite for $(1)" $(BUILD) -tags bundled -o bin/packages/programs/$(1)/ ./cmd/ferrite
ARCH    = $(shell go env GOARCH)

.PHONY: deb rpm
deb: bundle $(PACKER) ## | 2 min | a package for this machine alone, into bin/packages (make rpm: for relatives of Fedora)
rpm: bundle $(PACKER)
deb rpm:
	@$(call PROGRAM,$(ARCH))
	@bin/tools/ferrite-pack --nfpm $(PACKER) --arch $(ARCH) --format $@

.PHONY: packages
packages: bundle $(PACKER) ## | 5 min | a .deb, an .rpm, a tar and an OCI image of ferrite, amd64 and arm64, into bin/packages
	@rm -rf bin/packages
	@$(call PROGRAM,amd64)
	@$(call PROGRAM,arm64)
	@bin/tools/ferrite-pack --nfpm $(PACKER)

# Changes that are not committed are not in it.
SOURCE := ferrite-$(shell sed -n 's/^const release = "\(.*\)"/\1/p' cmd/ferrite/main.go)-source
.PHONY: source
source: ui ## | 1 min | a tar of the sources with the web interface built, into bin/packages: it needs no npm
	@mkdir -p bin/packages; built=(); for f in $$(find conductor/api/ui/built -type f ! -name README | LC_ALL=C sort); do \
	  built+=("--prefix=$(SOURCE)/$$(dirname $$f)/" "--add-file=$$f"); done; \
	git archive --format=tar "$${built[@]}" --prefix=$(SOURCE)/ HEAD | gzip -9n >bin/packages/$(SOURCE).tar.gz
	@ls -l bin/packages/$(SOURCE).tar.gz | awk '{printf "source: ok %s %.1f MB\n", $$9, $$5 / 1e6}'

.PHONY: release-files release-sign release-verify
release-files: packages source ## | 6 min | packages, source tar, SPDX documents, provenance and SHA256SUMS, into bin/packages (TAG=v1.2.3)
	@bin/tools/ferrite-pack --release --tag "$$TAG"

# RELEASE is the folder of the files.
RELEASE ?= bin/packages
release-sign: ## | | sign SHA256SUMS of the release files with an Ed25519 key in PEM (KEY=FILE)
	@openssl pkeyutl -sign -rawin -inkey "$(or $(KEY),$(error KEY is missing: the file of an Ed25519 key))" \
	  -in $(RELEASE)/SHA256SUMS -out $(RELEASE)/SHA256SUMS.sig

release-verify: ## | | verify the release files with a public key in PEM (KEY=FILE)
	@openssl pkeyutl -verify -rawin -pubin -inkey "$(or $(KEY),$(error KEY is missing: the file of a public key))" \
	  -in $(RELEASE)/SHA256SUMS -sigfile $(RELEASE)/SHA256SUMS.sig && cd $(RELEASE) && sha256sum --check --quiet --strict SHA256SUMS

$(PACKER): | $(SHOW)
	@mkdir -p $(@D)
	@GOBIN=$(@D) GOFLAGS=-buildvcs=false $(SHOW) "nfpm, which packs" go install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM)
	@mv $(@D)/nfpm $@

.PHONY: man
man: build
	@bin/ferrite docs --man bin/man/man1

.PHONY: docs-site
docs-site: build ## | 1 min | bin/site: the documentation as static pages, this version beside earlier ones
	@bin/ferrite docs --site bin/site

.PHONY: docs-test
docs-test: ## | 1 min | pages, their links and their commands: all that tests of documents look at
	@log=$$(mktemp); trap 'rm -f $$log' EXIT; go test -count=1 -v -run '^TestDocs' ./cmd/ferrite ./cmd/ferrite/manual >$$log || { cat $$log; exit 1; }; \
	  awk '/ not looked at: /{print $$NF, "(not looked at)"} / docs: [0-9]/{n[$$4]=$$3} \
	  END {printf "docs: ok %d pages, %d commands run, %d links\n", n["pages"], n["commands"], n["links"]}' $$log

.PHONY: ramdisk
ramdisk: build
	@$(SHOW) ramdisk bin/ferrite ramdisk build --profile $(or $(PROFILE),lab) --agent bin/ferrite-agent --out bin/ramdisk

.PHONY: bench
bench: deps build ramdisk ## root | 27 min | measure sizes, boot times and speeds
	@go test -run '^$$' -bench . -benchtime 2s ./images/disk ./conductor/store ./conductor/api ./conductor/extras/hosts/reconciler ./conductor/extras/hosts/kube | grep -E '^(Benchmark|ok|FAIL)'
	@go run ./lab/imagebench
	@go test -count=1 -v -parallel 2 -timeout 6h -tags e2e -run '^TestMeasured' -bench . -benchtime 1x ./lab/e2e -solo

# COMPARE="-only images/disk -rounds 5" runs a part of it more often.
.PHONY: bench-compare
bench-compare: deps ## root | 2 h | the ratio of each figure of bench to that of another commit (BASE=COMMIT)
	@go run ./lab/benchcompare -base "$(BASE)" $(COMPARE)

.PHONY: deps
deps: $(SHOW)
	@go run ./lab/suites/run -deps base

.PHONY: clean
clean: ## | | remove bin/
	rm -rf bin
