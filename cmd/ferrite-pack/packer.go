package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab/progress"
)

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
