package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/images/spdx"
)

// inBrowser lists the npm packages of the web interface, which is a part of the program: those that package.json calls
// dependencies, and theirs. The others build it or test it.
func inBrowser(doc *spdx.Document, program, lockFile string) error {
	text, err := os.ReadFile(lockFile)
	if err != nil {
		return fmt.Errorf("npm packages of the web interface: %w", err)
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			License string `json:"license"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("npm packages of the web interface: %s: %w", lockFile, err)
	}
	var names []string
	for at, p := range lock.Packages {
		if at != "" && !p.Dev {
			names = append(names, at)
		}
	}
	slices.Sort(names)
	for _, at := range names {
		p := lock.Packages[at]
		name := at[strings.LastIndex(at, "node_modules/")+len("node_modules/"):]
		about := spdx.NewPackage("SPDXRef-npm-"+spdx.ID(name+"-"+p.Version), name, p.Version, "").
			Named("pkg:npm/" + strings.ReplaceAll(escaped(name), "@", "%40") + "@" + url.PathEscape(p.Version))
		about.Declared = cmp.Or(p.License, about.Declared)
		doc.Add("DEPENDS_ON", program, about)
	}
	return nil
}
