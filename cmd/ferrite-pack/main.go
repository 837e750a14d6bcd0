// Command ferrite-pack packs the released program for servers: a .deb and an .rpm, a tar, and an OCI image, for each
// architecture. `make packages` runs it, and `make deb` for one package.
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
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab/progress"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ferrite-pack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var p packer
	var formats, archs, tag string
	var release bool
	flag.StringVar(&p.programs, "programs", "bin/packages/programs", "folder with ARCH/ferrite of each architecture")
	flag.StringVar(&p.agent, "agent", "bin/bundle/ferrite-agent", "the agent inside them, to list what it consists of")
	flag.StringVar(&p.webLock, "web-lock", "conductor/api/ui/web/package-lock.json",
		"the web interface's lock file, to list its parts")
	flag.StringVar(&p.nfpm, "nfpm", "nfpm", "path of nfpm")
	flag.StringVar(&p.out, "out", "bin/packages", "folder of the packages")
	flag.StringVar(&formats, "format", strings.Join(kinds, ","), "formats to pack")
	flag.StringVar(&archs, "arch", strings.Join(architectures, ","), "architectures to pack")
	flag.BoolVar(&release, "release", false, "pack nothing: write SPDX documents, provenance and sums of the packages")
	flag.StringVar(&tag, "tag", "", "tag of the release, which must be the version: v1.2.3")
	flag.Parse()
	var errs [2]error
	p.formats, errs[0] = chosen("format", formats, kinds)
	p.archs, errs[1] = chosen("arch", archs, architectures)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH is not set: expected the time of the sources, in seconds since 1970")
	}
	p.at = time.Unix(seconds, 0).UTC()
	p.line = progress.Labelled(os.Stderr, "packages")
	defer p.line.End()
	host := filepath.Join(p.programs, runtime.GOARCH, "ferrite")
	if p.version, err = versionOf(ctx, host); err != nil {
		return err
	}
	if release {
		return p.releaseFiles(ctx, tag)
	}
	docs, err := hostDocs(ctx, host)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.out, 0o755); err != nil {
		return err
	}
	if err := p.pack(ctx, docs); err != nil {
		return err
	}
	p.line.Set("")
	if err := p.sums(); err != nil || len(p.formats)*len(p.archs) > 1 {
		return err
	}
	return p.howToInstall()
}
