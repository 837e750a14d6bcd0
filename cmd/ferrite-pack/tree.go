package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// entry is a file of a package.
type entry struct {
	path  string
	text  []byte
	mode  fs.FileMode
	owner int // user and group; root, except in the image
}

//go:embed files
var files embed.FS

const (
	programPath = "/usr/bin/ferrite"
	docFolder   = "/usr/share/doc/ferrite/"
	// zshFolder is Debian's folder for the completion of packages; Fedora's differs (nfpm.go).
	zshFolder = "/usr/share/zsh/vendor-completions/"
)

// tree lists the files to install for an architecture, by path. The agent and the console commands of ramdisks are
// inside the program; a kernel is not (docs/decisions/0077-packages.md).
func (p *packer) tree(arch string, docs []entry) ([]entry, error) {
	program := filepath.Join(p.programs, arch, "ferrite")
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	bill, err := p.bill(program)
	if err != nil {
		return nil, err
	}
	all := []entry{{path: programPath, text: text, mode: 0o755},
		{path: docFolder + "ferrite.spdx.json", text: bill, mode: 0o644}}
	for _, f := range []struct{ from, to string }{
		{"files/ferrite.service", "/usr/lib/systemd/system/ferrite.service"},
		{"files/ferrite.yaml", docFolder + "examples/ferrite.yaml"},
	} {
		text, err := files.ReadFile(f.from)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{path: f.to, text: text, mode: 0o644})
	}
	for _, f := range []struct{ from, to string }{{"LICENSE", "copyright"}, {"CHANGELOG.md", "CHANGELOG.md"}} {
		text, err := os.ReadFile(f.from)
		if err != nil {
			return nil, fmt.Errorf("%w: run ferrite-pack in the checkout", err)
		}
		all = append(all, entry{path: docFolder + f.to, text: text, mode: 0o644})
	}
	return append(all, docs...), nil
}

// versionOf is the version that a program prints.
func versionOf(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	words := strings.Fields(string(out))
	if len(words) == 0 {
		return "", fmt.Errorf("%s --version: expected a version, found nothing", program)
	}
	return words[len(words)-1], nil
}

// hostDocs are the files that the program writes of itself: man pages and completion.
func hostDocs(ctx context.Context, program string) (all []entry, err error) {
	tmp, err := os.MkdirTemp("", "ferrite-pack-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if out, err := exec.CommandContext(ctx, program, "docs", "--man", tmp).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("man pages: %w: %s", err, out)
	}
	pages, err := os.ReadDir(tmp)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(tmp, page.Name()))
		if err != nil {
			return nil, err
		}
		if text, err = gzipped(text); err != nil {
			return nil, err
		}
		all = append(all, entry{path: path.Join("/usr/share/man/man1", page.Name()+".gz"), text: text, mode: 0o644})
	}
	for shell, to := range map[string]string{"bash": "/usr/share/bash-completion/completions/ferrite",
		"zsh": zshFolder + "_ferrite", "fish": "/usr/share/fish/vendor_completions.d/ferrite.fish"} {
		text, err := exec.CommandContext(ctx, program, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("completion of %s: %w", shell, err)
		}
		all = append(all, entry{path: to, text: text, mode: 0o644})
	}
	return all, nil
}

// gzipped compresses without a name and a time.
func gzipped(text []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
