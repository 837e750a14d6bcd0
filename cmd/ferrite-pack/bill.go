package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
	"github.com/ferrite-metal/ferrite/images/spdx"
)

// bill is the SPDX document of a program: the Go modules that it and the agent inside it were built from, as the
// linker has written them down, and the npm packages of its web interface.
func (p *packer) bill(program string) ([]byte, error) {
	sum, err := buildcache.HashFile(program)
	if err != nil {
		return nil, err
	}
	doc := spdx.New("ferrite-"+p.version, sum)
	const main, agent = "SPDXRef-ferrite", "SPDXRef-ferrite-agent"
	about := spdx.NewPackage(main, "ferrite", p.version, sum)
	about.FileName, about.Declared = path.Base(programPath), "Apache-2.0"
	doc.Describe(about)
	inside := spdx.NewPackage(agent, "ferrite-agent", p.version, "")
	inside.Declared = "Apache-2.0"
	doc.Add("CONTAINS", main, inside)
	known := map[string]bool{}
	for _, of := range []struct{ id, file string }{{main, program}, {agent, p.agent}} {
		modules, err := modulesOf(of.file)
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			id := "SPDXRef-go-" + spdx.ID(m.path+"-"+m.version)
			if known[id] {
				doc.Relationships = append(doc.Relationships, spdx.Relationship{From: of.id, Type: "DEPENDS_ON", To: id})
				continue
			}
			known[id] = true
			doc.Add("DEPENDS_ON", of.id, spdx.NewPackage(id, m.path, m.version, "").
				Named("pkg:golang/"+escaped(m.path)+"@"+url.PathEscape(m.version)))
		}
	}
	if err := inBrowser(&doc, main, p.webLock); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = doc.Write(&out)
	return out.Bytes(), err
}

type module struct{ path, version string }

// modulesOf are the modules in a program, Go's own library first.
func modulesOf(program string) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("modules of %s: %w", program, err)
	}
	all := []module{{"std", strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, module{m.Path, m.Version})
	}
	return all, nil
}

// escaped is a module's path in a package URL, with its slashes kept.
func escaped(modulePath string) string {
	parts := strings.Split(modulePath, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
