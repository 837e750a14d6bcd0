package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// format is a kind of package that nfpm writes.
type format struct {
	name     string
	file     string // of version and architecture
	arch     map[string]string
	depends  []string
	suggests []string
	zsh      string
	install  string // command for a FILE, with the boot loaders
}

var formats = []format{
	{name: "deb", file: "ferrite_%s_%s.deb", arch: map[string]string{"amd64": "amd64", "arm64": "arm64"},
		depends: []string{"passwd"}, suggests: []string{"ipxe", "ca-certificates", "postgresql"}, zsh: zshFolder,
		install: "apt install FILE ipxe"},
	{name: "rpm", file: "ferrite-%s-1.%s.rpm", arch: map[string]string{"amd64": "x86_64", "arm64": "aarch64"},
		depends: []string{"shadow-utils"}, suggests: []string{"ipxe-bootimgs-x86", "ca-certificates", "postgresql-server"},
		zsh: "/usr/share/zsh/site-functions/", install: "dnf install FILE ipxe-bootimgs-x86"},
}

// packages writes the packages of an architecture.
func (p *packer) packages(ctx context.Context, arch string, t []entry) (err error) {
	tmp, err := os.MkdirTemp("", "ferrite-pack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	for _, f := range formats {
		if !slices.Contains(p.formats, f.name) {
			continue
		}
		p.next(f.name + " of " + arch)
		if err := p.packageOf(ctx, f, arch, t, filepath.Join(tmp, f.name)); err != nil {
			return fmt.Errorf("%s of %s: %w", f.name, arch, err)
		}
	}
	return nil
}

// packageOf lays the files out below dir, and has nfpm pack them.
func (p *packer) packageOf(ctx context.Context, f format, arch string, t []entry, dir string) error {
	var contents []map[string]any
	for _, e := range t {
		from := filepath.Join(dir, "tree", e.path)
		if err := writeFile(from, e.text); err != nil {
			return err
		}
		to := e.path
		if rest, ok := strings.CutPrefix(to, zshFolder); ok {
			to = f.zsh + rest
		}
		contents = append(contents, map[string]any{"src": from, "dst": to,
			"file_info": map[string]any{"mode": int(e.mode), "mtime": p.at.Format(time.RFC3339)}})
	}
	scripts := map[string]string{}
	for name, key := range map[string]string{"postinst": "postinstall", "prerm": "preremove", "postrm": "postremove"} {
		text, err := files.ReadFile("files/" + name)
		if err != nil {
			return err
		}
		scripts[key] = filepath.Join(dir, name)
		if err := writeFile(scripts[key], text); err != nil {
			return err
		}
	}
	conf, err := yaml.Marshal(map[string]any{
		"name": "ferrite", "arch": arch, "platform": "linux", "version": p.version, "version_schema": "none",
		"maintainer": "Ferrite <https://github.com/ferrite-metal/ferrite>", "license": "Apache-2.0", "section": "admin",
		"priority": "optional", "homepage": "https://github.com/ferrite-metal/ferrite", "mtime": p.at.Format(time.RFC3339),
		"description": "bare-metal provisioning\nConductor and client of Ferrite, which turns powered-off machines into " +
			"running ones.\nThe agent for their ramdisk is inside.",
		"depends": f.depends, "suggests": f.suggests, "contents": contents, "scripts": scripts,
		"deb": map[string]any{"compression": "zstd"},
		"rpm": map[string]any{"compression": "zstd", "buildhost": "ferrite", "summary": "Bare-metal provisioning"},
	})
	if err != nil {
		return err
	}
	confFile := filepath.Join(dir, "nfpm.yaml")
	if err := writeFile(confFile, conf); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, p.nfpm, "package", "--config", confFile, "--packager", f.name, "--target",
		p.path(f.file, p.version, f.arch[arch]))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w: %s", err, out)
	}
	return nil
}

func writeFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
