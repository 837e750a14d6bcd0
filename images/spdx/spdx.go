// Package spdx is a document of SPDX 2.3 in JSON (https://spdx.github.io/spdx-spec/v2.3/): the fields that Ferrite
// writes, of ramdisks and of packages.
//
// It knows neither of them.
package spdx

import (
	"encoding/json"
	"io"
	"regexp"
)

// Document lists the components of a product.
type Document struct {
	Version       string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      Creation       `json:"creationInfo"`
	Packages      []Package      `json:"packages"`
	Relationships []Relationship `json:"relationships"`
}

// Creation is the date and the maker of a document.
type Creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// Package is one component.
type Package struct {
	ID            string      `json:"SPDXID"`
	Name          string      `json:"name"`
	Version       string      `json:"versionInfo,omitempty"`
	FileName      string      `json:"packageFileName,omitempty"`
	Download      string      `json:"downloadLocation"`
	FilesAnalyzed bool        `json:"filesAnalyzed"`
	Concluded     string      `json:"licenseConcluded"`
	Declared      string      `json:"licenseDeclared"`
	Copyright     string      `json:"copyrightText"`
	Checksums     []Checksum  `json:"checksums,omitempty"`
	References    []Reference `json:"externalRefs,omitempty"`
}

// Checksum is the sum of a package's file.
type Checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

// Reference names a package elsewhere.
type Reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

// Relationship is the relation of one element to another.
type Relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// noAssertion is for fields that SPDX requires and that we do not know.
const noAssertion = "NOASSERTION"

// createdAlways stands for the time of the build, which would make two builds differ.
const createdAlways = "1970-01-01T00:00:00Z"

// New makes a document without packages; sum distinguishes it from others of its name.
func New(name, sum string) Document {
	return Document{Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: "https://github.com/ferrite-metal/ferrite/spdx/" + sum,
		Creation:  Creation{Created: createdAlways, Creators: []string{"Tool: ferrite"}}}
}

// Describe adds a package that the document is about.
func (d *Document) Describe(p Package) { d.Add("DESCRIBES", d.ID, p) }

// Add adds a package, and its relation to another.
func (d *Document) Add(relation, of string, p Package) {
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, Relationship{of, relation, p.ID})
}

// Write writes the document.
func (d *Document) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}

var notInID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

// ID is a name without the characters that an identifier cannot have.
func ID(name string) string { return notInID.ReplaceAllString(name, "-") }

// NewPackage is a package without a licence. sum is the SHA-256 of its file in hex; "" for none.
func NewPackage(id, name, version, sum string) Package {
	p := Package{ID: id, Name: name, Version: version, Download: noAssertion, Concluded: noAssertion,
		Declared: noAssertion, Copyright: noAssertion}
	if sum != "" {
		p.Checksums = []Checksum{{"SHA256", sum}}
	}
	return p
}

// Named adds the package URL (https://github.com/package-url/purl-spec) of a package.
func (p Package) Named(purl string) Package {
	p.References = append(p.References, Reference{"PACKAGE-MANAGER", "purl", purl})
	return p
}
