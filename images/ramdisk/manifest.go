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
	"regexp"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// Component is a package, or a program of ours, that a ramdisk has files of.
type Component struct {
	Name    string
	Version string // "" for programs that were given by their path
	SHA256  string // of the .deb, or of the program, in hex
	Debian  bool   // a package of Debian
}

// spdx is a document of SPDX 2.3 in JSON (https://spdx.github.io/spdx-spec/v2.3/): the fields that we write.
type spdx struct {
	Version       string             `json:"spdxVersion"`
	DataLicense   string             `json:"dataLicense"`
	ID            string             `json:"SPDXID"`
	Name          string             `json:"name"`
	Namespace     string             `json:"documentNamespace"`
	Creation      spdxCreation       `json:"creationInfo"`
	Packages      []spdxPackage      `json:"packages"`
	Relationships []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID            string          `json:"SPDXID"`
	Name          string          `json:"name"`
	Version       string          `json:"versionInfo,omitempty"`
	FileName      string          `json:"packageFileName,omitempty"`
	Download      string          `json:"downloadLocation"`
	FilesAnalyzed bool            `json:"filesAnalyzed"`
	Concluded     string          `json:"licenseConcluded"`
	Declared      string          `json:"licenseDeclared"`
	Copyright     string          `json:"copyrightText"`
	Checksums     []spdxChecksum  `json:"checksums,omitempty"`
	References    []spdxReference `json:"externalRefs,omitempty"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxReference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// noAssertion is for fields that SPDX requires and that we do not know: licences are in the ramdisk, as Debian's
// copyright files.
const noAssertion = "NOASSERTION"

// createdAlways stands for the time of the build, which would make two builds differ.
const createdAlways = "1970-01-01T00:00:00Z"

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

// writeManifest writes the list of components beside the results.
func writeManifest(r Result) (string, error) {
	doc := spdx{Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: filepath.Base(r.InitramfsPath),
		Namespace: "https://github.com/ferrite-metal/ferrite/spdx/" + r.InitramfsSHA256,
		Creation:  spdxCreation{Created: createdAlways, Creators: []string{"Tool: ferrite"}}}
	for _, f := range []struct{ id, path, sum string }{
		{"SPDXRef-Ramdisk", r.InitramfsPath, r.InitramfsSHA256}, {"SPDXRef-Kernel", r.KernelPath, r.KernelSHA256},
	} {
		p := newPackage(f.id, filepath.Base(f.path), "", f.sum)
		p.FileName = filepath.Base(f.path)
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, spdxRelationship{doc.ID, "DESCRIBES", f.id})
	}
	for i, c := range r.Components {
		p := newPackage(fmt.Sprintf("SPDXRef-%d-%s", i+1, notInID.ReplaceAllString(c.Name, "-")), c.Name, c.Version, c.SHA256)
		if c.Debian {
			p.References = []spdxReference{{"PACKAGE-MANAGER", "purl",
				"pkg:deb/debian/" + url.PathEscape(c.Name) + "@" + url.QueryEscape(c.Version) + "?arch=amd64"}}
		}
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, spdxRelationship{"SPDXRef-Ramdisk", "CONTAINS", p.ID})
	}
	path := manifestPath(r.InitramfsPath)
	_, _, err := buildcache.WriteFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(doc)
	})
	return path, err
}

// notInID are the characters that an identifier of SPDX cannot have.
var notInID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

func newPackage(id, name, version, sum string) spdxPackage {
	p := spdxPackage{ID: id, Name: name, Version: version, Download: noAssertion, Concluded: noAssertion,
		Declared: noAssertion, Copyright: noAssertion}
	if sum != "" {
		p.Checksums = []spdxChecksum{{"SHA256", sum}}
	}
	return p
}

// maxManifest bounds a manifest that is read, in bytes.
const maxManifest = 16 << 20

// readManifest adds what the manifest beside a file says of it. A manifest of another build is named as such.
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
	var doc spdx
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
			same = slices.Contains(p.Checksums, spdxChecksum{"SHA256", sum})
		}
	}
	if !same {
		i.Manifest, i.Packages = path+" is of another build", nil
	}
	return nil
}
