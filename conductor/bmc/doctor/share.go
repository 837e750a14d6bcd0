package doctor

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/bmc/savedtree"
)

// sharedFormat changes with each change of the format that readers of shared reports must handle.
const sharedFormat = 1

// Shared is a report that others may see: without addresses, serial numbers, names of users and hosts, and secrets. It
// is made to be attached to a bug report. The documents' page of BMCs is made of such files.
type Shared struct {
	Format      int              `json:"format"`
	Ferrite     string           `json:"ferrite"`  // the release that wrote it
	Protocol    string           `json:"protocol"` // Redfish 1.17.0, or IPMI 2.0
	Machine     string           `json:"machine"`  // maker and model
	BMC         string           `json:"bmc"`      // maker, model and firmware
	TLS         string           `json:"tls,omitempty"`
	Certificate []string         `json:"certificate_problems,omitempty"`
	Usable      bool             `json:"usable"`
	Findings    []Finding        `json:"findings"`
	Sessions    int              `json:"sessions_of_others"`
	Odd         []redfish.Oddity `json:"odd,omitempty"`
	Notes       []string         `json:"notes,omitempty"`
}

// Share is the report for others, written by a release of Ferrite. It removes the values of all documents that were
// read, by the properties that hold them, and every address.
func (r Report) Share(release string) (Shared, error) {
	texts, err := savedtree.NewTexts(&r.read, r.private...)
	if err != nil {
		return Shared{}, err
	}
	s := Shared{Format: sharedFormat, Ferrite: release, Protocol: r.Protocol, Machine: texts.Redact(r.Machine),
		BMC: texts.Redact(r.BMC), Usable: r.Usable(), Findings: slices.Clone(r.Findings), Sessions: len(r.Sessions)}
	for i := range s.Findings {
		s.Findings[i].Detail = texts.Redact(s.Findings[i].Detail)
	}
	if r.Certificate != nil {
		s.TLS, s.Certificate = r.Certificate.TLS, redacted(texts, r.Certificate.Problems)
	}
	for _, o := range r.Odd {
		o.Path, o.Kind = texts.Redact(o.Path), texts.Redact(o.Kind)
		s.Odd = append(s.Odd, o)
	}
	s.Notes = redacted(texts, r.Notes)
	return s, nil
}

func redacted(texts *savedtree.Texts, all []string) (out []string) {
	for _, text := range all {
		out = append(out, texts.Redact(text))
	}
	return out
}

// Save writes the report into a new file.
func (s Shared) Save(file string) error {
	return savedtree.WriteNew(file, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	})
}

// private are the texts of driver_info that no document need hold.
func private(info map[string]any) (all []string) {
	for name, value := range info {
		text, is := value.(string)
		switch {
		case !is:
		case strings.HasSuffix(name, "_address"):
			_, host, found := strings.Cut(text, "://")
			if !found {
				host = text
			}
			host, _, _ = strings.Cut(host, "/")
			all = append(all, host, strings.Trim(host, "[]"))
			if i := strings.LastIndexByte(host, ':'); i > 0 {
				all = append(all, strings.Trim(host[:i], "[]"))
			}
		case strings.HasSuffix(name, "_username"), strings.HasSuffix(name, "_password"):
			all = append(all, text)
		}
	}
	return all
}
