// Command ferrite-pack packs the released program for servers: a .deb and an .rpm, a tar, and an OCI image, for each
// architecture. `make packages` runs it.
//
// The same inputs and SOURCE_DATE_EPOCH give the same bytes. One table (tree.go) lists the contents of all packages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ferrite-pack:", err)
		os.Exit(1)
	}
}

// packer is one run.
type packer struct {
	programs string // folder with ARCH/ferrite of each architecture
	agent    string // the agent that is inside them
	webLock  string // package-lock.json of the web interface
	nfpm     string // the tool that writes .deb and .rpm
	out      string
	version  string
	at       time.Time // of every file
}

// architectures are the architectures of the packages; the names are Go's and Debian's.
var architectures = []string{"amd64", "arm64"}

func run(ctx context.Context) error {
	var p packer
	flag.StringVar(&p.programs, "programs", "bin/packages/programs", "folder with ARCH/ferrite of each architecture")
	flag.StringVar(&p.agent, "agent", "bin/ferrite-agent", "the agent inside them, to list what it consists of")
	flag.StringVar(&p.webLock, "web-lock", "conductor/api/ui/web/package-lock.json",
		"the web interface's lock file, to list what it consists of")
	flag.StringVar(&p.nfpm, "nfpm", "nfpm", "path of nfpm")
	flag.StringVar(&p.out, "out", "bin/packages", "folder of the packages")
	flag.Parse()
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH is not set: expected the time of the sources, in seconds since 1970")
	}
	p.at = time.Unix(seconds, 0).UTC()
	host := filepath.Join(p.programs, runtime.GOARCH, "ferrite")
	if p.version, err = versionOf(ctx, host); err != nil {
		return err
	}
	docs, err := hostDocs(ctx, host)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.out, 0o755); err != nil {
		return err
	}
	image := newImage(p.at, p.version)
	for _, arch := range architectures {
		t, err := p.tree(arch, docs)
		if err != nil {
			return err
		}
		if err := p.packages(ctx, arch, t); err != nil {
			return err
		}
		if err := p.tar(arch, t); err != nil {
			return err
		}
		if err := image.add(arch, t); err != nil {
			return err
		}
	}
	if err := image.write(p.path("ferrite-%s-oci.tar", p.version)); err != nil {
		return err
	}
	return p.sums()
}

func (p packer) path(format string, args ...any) string {
	return filepath.Join(p.out, fmt.Sprintf(format, args...))
}
