package debian

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Package is one version of a package, as the archive's list describes it.
type Package struct {
	Name, Version string
	Suite         string   // where it was found; "" when apt chose it
	Source        string   // source package, which its licence is about
	Depends       []string // names that it needs: of alternatives the first
	Filename      string   // path below the mirror
	Size          int64    // of the .deb, in bytes
	SHA256        string   // of the .deb, in hex
}

// ErrNoPackage says that no list has a package.
var ErrNoPackage = errors.New("no such package")

// Archive is a source of packages.
type Archive interface {
	// Find returns the newest version of a package, of one suite or with suite "" of those that are configured. An
	// unknown package is ErrNoPackage.
	Find(ctx context.Context, name, suite string) (Package, error)
	// Fetch puts the .deb of a package into a folder, once its hash equals the hash in the list, and returns its path.
	Fetch(ctx context.Context, p Package, folder string) (string, error)
	// Missing says how to make firmware packages available that Find does not know.
	Missing() string
}

// packageOf reads a stanza of Packages.
func packageOf(fields paragraph) (Package, error) {
	p := Package{Name: fields["package"], Version: fields["version"], Filename: fields["filename"],
		SHA256: fields["sha256"]}
	size, err := strconv.ParseInt(fields["size"], 10, 64)
	if p.Name == "" || p.Version == "" || !isSHA256(p.SHA256) || err != nil || size <= 0 {
		return Package{}, fmt.Errorf("package %q: expected Package, Version, Size and SHA256", p.Name)
	}
	if p.Filename, err = cleanName(p.Filename); err != nil {
		return Package{}, fmt.Errorf("package %s: %w", p.Name, err)
	}
	p.Size = size
	p.Source, _, _ = strings.Cut(fields["source"], " ")
	if p.Source == "" {
		p.Source = p.Name
	}
	p.Depends = append(dependencies(fields["pre-depends"]), dependencies(fields["depends"])...)
	return p, nil
}

// dependencies are the names of a field Depends (deb-control(5)), the first of each list of alternatives.
func dependencies(field string) (names []string) {
	for relation := range strings.SplitSeq(field, ",") {
		first, _, _ := strings.Cut(relation, "|")
		name := strings.TrimSpace(first)
		if i := strings.IndexAny(name, " (:["); i >= 0 {
			name = name[:i]
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
