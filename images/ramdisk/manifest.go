package ramdisk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/images/spdx"
)

// Component is a package, or a program of ours, that a ramdisk has files of.
type Component struct {
	Name    string
	Version string // "" for programs that were given by their path
	SHA256  string // of the .deb, or of the program, in hex
	Debian  bool   // a package of Debian
}

// manifestPath is the manifest of an output file, beside it.
func manifestPath(file string) string {
	return strings.TrimSuffix(file, filepath.Ext(file)) + ".spdx.json"
}

// components are sorted, each once.
func components(all []Component) []Component {
	slices.SortFunc(all, func(a, b Component) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.SHA256, b.SHA256))
	})
	return slices.Compact(all)
}

// writeManifest writes the list of components beside the results. Licences are in the ramdisk, as Debian's copyright
// files.
func writeManifest(r Result) (string, error) {
	doc := spdx.New(filepath.Base(r.InitramfsPath), r.InitramfsSHA256)
	const ramdisk = "SPDXRef-Ramdisk"
	for _, f := range []struct{ id, path, sum string }{
		{ramdisk, r.InitramfsPath, r.InitramfsSHA256}, {"SPDXRef-Kernel", r.KernelPath, r.KernelSHA256},
	} {
		p := spdx.NewPackage(f.id, filepath.Base(f.path), "", f.sum)
		p.FileName = filepath.Base(f.path)
		doc.Describe(p)
	}
	for i, c := range r.Components {
		p := spdx.NewPackage(fmt.Sprintf("SPDXRef-%d-%s", i+1, spdx.ID(c.Name)), c.Name, c.Version, c.SHA256)
		if c.Debian {
			p = p.Named("pkg:deb/debian/" + url.PathEscape(c.Name) + "@" + url.QueryEscape(c.Version) + "?arch=amd64")
		}
		doc.Add("CONTAINS", ramdisk, p)
	}
	path := manifestPath(r.InitramfsPath)
	_, _, err := buildcache.WriteFile(path, doc.Write)
	return path, err
}

// maxManifest bounds a manifest that is read, in bytes.
const maxManifest = 16 << 20

// readManifest adds the contents of the manifest beside a file. A manifest of another build is reported as such.
func (i *Inspection) readManifest(file string) error {
	path := manifestPath(file)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var doc spdx.Document
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(&doc); err != nil {
		return fmt.Errorf("manifest %s: expected SPDX in JSON: %w", path, err)
	}
	sum, err := buildcache.HashFile(file)
	if err != nil {
		return err
	}
	i.Manifest = path
	same := false
	for _, p := range doc.Packages {
		switch {
		case p.FileName == "":
			i.Packages = append(i.Packages, strings.TrimSpace(p.Name+" "+p.Version))
		case p.FileName == filepath.Base(file):
			same = slices.Contains(p.Checksums, spdx.Checksum{Algorithm: "SHA256", Value: sum})
		}
	}
	if !same {
		i.Manifest, i.Packages = path+" is of another build", nil
	}
	return nil
}
