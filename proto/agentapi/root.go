package agentapi

import (
	"fmt"
	"strconv"
	"strings"
)

// Root answers GET / on the conductor: what it is and how new it is.
type Root struct {
	Name           string        `json:"name"`
	Description    string        `json:"description"`
	DefaultVersion RootVersion   `json:"default_version"`
	Versions       []RootVersion `json:"versions"`
}

// RootVersion is one major version with the range of microversions it spans.
type RootVersion struct {
	ID         string `json:"id"`
	Links      []Link `json:"links"`
	Status     string `json:"status"`
	MinVersion string `json:"min_version"`
	Version    string `json:"version"` // the newest microversion
}

// Microversion is a version as in "1.68", comparable with Less.
type Microversion struct{ Major, Minor int }

// ParseMicroversion reads "1.68". Anything else is an error that shows it.
func ParseMicroversion(s string) (Microversion, error) {
	major, minor, ok := strings.Cut(s, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if !ok || errA != nil || errB != nil || a < 0 || b < 0 {
		return Microversion{}, fmt.Errorf("microversion %q: expected MAJOR.MINOR as in \"1.68\"", s)
	}
	return Microversion{a, b}, nil
}

func (v Microversion) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Less reports whether v is older than w.
func (v Microversion) Less(w Microversion) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	return v.Minor < w.Minor
}
