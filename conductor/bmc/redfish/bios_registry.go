package redfish

import (
	"cmp"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
)

// registryFile is MessageRegistryFile: where a registry is, by language.
type registryFile struct {
	ID       string `json:"Id"`
	Registry string
	Location []struct {
		Language string
		URI      string `json:"Uri"`
	}
}

// uri is where the registry is in English (en, en-US), else in the first language; "" for nowhere.
func (f registryFile) uri() (uri string) {
	for _, l := range f.Location {
		if strings.HasPrefix(strings.ToLower(l.Language), "en") && l.URI != "" {
			return l.URI
		}
		uri = cmp.Or(uri, l.URI)
	}
	return uri
}

// registryVersion is the end of a registry's name (DSP0266, 11.6, and otherwise): .v1_0_3, .1.0.0, 1.0.
var registryVersion = regexp.MustCompile(`[._-]?v?\d+([._-]\d+)*(\.json)?$`)

// biosRegistryName is the name of BIOS registries of several makers, looked for where the Bios names none (GH200).
const biosRegistryName = "BiosAttributeRegistry"

// registryMatch rates a registry's name against the name that a Bios gives: 2 for the same, 1 for another version, 0
// for another registry. Dell's Bios names v1_0_3 of a registry that the file calls v1_0_0; Supermicro's X13 differs
// likewise.
func registryMatch(named, wanted string) int {
	plain := func(s string) string { return registryVersion.ReplaceAllString(strings.ToLower(s), "") }
	switch a, b := plain(named), plain(cmp.Or(wanted, biosRegistryName)); {
	case named != "" && named == wanted:
		return 2
	case a != "" && (strings.HasPrefix(a, b) || b != "" && strings.HasPrefix(b, a)):
		return 1
	}
	return 0
}

// attributes reads the registry of the settings, nil where the BMC has none that describes any of them: the settings'
// values then show their types.
func (s *session) attributes(b bios) (map[string]attribute, error) {
	r, err := s.root()
	if err != nil || r.Registries.Path == "" || len(b.Attributes) == 0 {
		return nil, err
	}
	files, err := s.members(r.Registries.Path)
	if status(err) == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// By their paths first: there are many, and they are large.
	byPath := func(file string) int { return registryMatch(path.Base(file), b.AttributeRegistry) }
	slices.SortStableFunc(files, func(x, y string) int { return cmp.Compare(byPath(y), byPath(x)) })
	var kin []string // registries of the same name but for the version
	for _, path := range files {
		if byPath(path) == 0 && len(kin) > 0 {
			break
		}
		var file registryFile
		if _, err := s.get(path, &file); status(err) == http.StatusNotFound {
			continue
		} else if err != nil {
			return nil, err
		}
		switch max(registryMatch(file.ID, b.AttributeRegistry), registryMatch(file.Registry,
			b.AttributeRegistry)) {
		case 2:
			kin = slices.Insert(kin, 0, file.uri())
		case 1:
			kin = append(kin, file.uri())
		}
	}
	for _, uri := range kin {
		if all, err := s.registry(uri, b); err != nil || all != nil {
			return all, err
		}
	}
	return nil, nil
}

// registry reads a registry. It returns nil for a registry that does not exist, since some BMCs only name it, and for a
// registry that describes no setting of b.
func (s *session) registry(path string, b bios) (map[string]attribute, error) {
	if path == "" {
		return nil, nil
	}
	var doc struct {
		RegistryEntries struct{ Attributes []attribute }
	}
	if _, err := s.get(path, &doc); status(err) == http.StatusNotFound {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	all, known := map[string]attribute{}, false
	for _, a := range doc.RegistryEntries.Attributes {
		all[a.AttributeName] = a
		_, is := b.Attributes[a.AttributeName]
		known = known || is
	}
	if !known {
		return nil, nil
	}
	return all, nil
}
