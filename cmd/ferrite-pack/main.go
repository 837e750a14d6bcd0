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
	"slices"
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

// packer is one run.
type packer struct {
	programs string // folder with ARCH/ferrite of each architecture
	agent    string // the agent that is inside them
	webLock  string // package-lock.json of the web interface
	nfpm     string // the tool that writes .deb and .rpm
	out      string
	version  string
	at       time.Time // of every file
	formats  []string  // of kinds
	archs    []string  // of architectures
	line     *progress.Line
	done     int // files that are packed
}

// architectures are the architectures of the packages; the names are Go's and Debian's.
var architectures = []string{"amd64", "arm64"}

// kinds are the formats; oci is one file for all architectures.
var kinds = []string{"deb", "rpm", "tar", "oci"}

// chosen reads a list of names, of which all must be known.
func chosen(flagName, list string, known []string) ([]string, error) {
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--%s %s: expected some of %s, found %q", flagName, list, strings.Join(known, ","), name)
		}
	}
	return names, nil
}

func run(ctx context.Context) error {
	var p packer
	var formats, archs, tag, key string
	var release bool
	flag.StringVar(&p.programs, "programs", "bin/packages/programs", "folder with ARCH/ferrite of each architecture")
	flag.StringVar(&p.agent, "agent", "bin/bundle/ferrite-agent", "the agent inside them, to list what it consists of")
	flag.StringVar(&p.webLock, "web-lock", "conductor/api/ui/web/package-lock.json",
		"the web interface's lock file, to list what it consists of")
	flag.StringVar(&p.nfpm, "nfpm", "nfpm", "path of nfpm")
	flag.StringVar(&p.out, "out", "bin/packages", "folder of the packages")
	flag.StringVar(&formats, "format", strings.Join(kinds, ","), "formats to pack")
	flag.StringVar(&archs, "arch", strings.Join(architectures, ","), "architectures to pack")
	flag.BoolVar(&release, "release", false, "pack nothing: write SPDX documents, provenance and sums of the packages")
	flag.StringVar(&tag, "tag", "", "tag of the release, which must be the version: v1.2.3")
	flag.StringVar(&key, "key", "", "pack nothing: sign the release with the Ed25519 key in this file")
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
	switch {
	case key != "":
		return p.sign(key)
	case release:
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

// pack writes the packages of all formats and architectures.
func (p *packer) pack(ctx context.Context, docs []entry) error {
	image := newImage(p.at, p.version)
	for _, arch := range p.archs {
		t, err := p.tree(arch, docs)
		if err != nil {
			return err
		}
		if err := p.packages(ctx, arch, t); err != nil {
			return err
		}
		if slices.Contains(p.formats, "tar") {
			p.next("tar of " + arch)
			if err := p.tar(arch, t); err != nil {
				return err
			}
		}
		if slices.Contains(p.formats, "oci") {
			p.line.Set("packing the image's layer of %s", arch)
			if err := image.add(arch, t); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(p.formats, "oci") {
		return nil
	}
	p.next("image")
	return image.write(p.path("ferrite-%s-oci.tar", p.version))
}

// next shows the file that is packed now.
func (p *packer) next(name string) {
	total := len(p.formats) * len(p.archs)
	if slices.Contains(p.formats, "oci") {
		total -= len(p.archs) - 1
	}
	p.done++
	p.line.Set("file %d of %d: %s", p.done, total, name)
}

// howToInstall prints the command for a single package.
func (p *packer) howToInstall() error {
	for _, f := range formats {
		if f.name != p.formats[0] {
			continue
		}
		file := p.path(f.file, p.version, f.arch[p.archs[0]])
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		fmt.Printf("%s: ok %s %.1f MB; install it with: %s\n", f.name, file, float64(info.Size())/1e6,
			strings.ReplaceAll(f.install, "FILE", "./"+file))
	}
	return nil
}

func (p *packer) path(format string, args ...any) string {
	return filepath.Join(p.out, fmt.Sprintf(format, args...))
}
