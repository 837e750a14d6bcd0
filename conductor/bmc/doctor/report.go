package doctor

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/bmc/savedtree"
)

// Need says how much Ferrite depends on an operation.
type Need string

// The needs. A machine cannot be deployed without the operations of Must. If an operation of Should is missing, a
// person may have to go to the machine.
const (
	Must   Need = "must"
	Should Need = "should"
	May    Need = "may"
)

// Verdict is the result for an operation.
type Verdict string

// The verdicts. Skipped is an operation that was not tried, since another had failed.
const (
	Works      Verdict = "works"
	NotOffered Verdict = "not offered"
	Fails      Verdict = "fails"
	Skipped    Verdict = "skipped"
)

// Finding is one operation of a BMC.
type Finding struct {
	Operation string        `json:"operation"`
	Need      Need          `json:"need"`
	Verdict   Verdict       `json:"verdict"`
	Detail    string        `json:"detail"`           // the result, or the reason why there is none
	Quirks    []string      `json:"quirks,omitempty"` // ways around that the driver takes for this maker
	Requests  int           `json:"requests"`
	Took      time.Duration `json:"took_ns"` // all of it
	Slowest   time.Duration `json:"slowest_ns"`
}

// Certificate describes a BMC's TLS certificate.
type Certificate struct {
	TLS      string    `json:"tls"` // version: TLS 1.2
	Subject  string    `json:"subject"`
	Issuer   string    `json:"issuer"`
	Names    []string  `json:"names"`
	Expires  time.Time `json:"expires"`
	Problems []string  `json:"problems,omitempty"`
}

// Report is all that was found.
type Report struct {
	Address     string                `json:"address"`
	Protocol    string                `json:"protocol"` // Redfish 1.17.0, or IPMI 2.0
	Machine     string                `json:"machine"`
	BMC         string                `json:"bmc"`
	Certificate *Certificate          `json:"certificate,omitempty"` // nil without TLS
	Findings    []Finding             `json:"findings"`
	Sessions    []redfish.OpenSession `json:"sessions,omitempty"` // of others
	Odd         []redfish.Oddity      `json:"odd,omitempty"`      // departures from the standard, and ways around
	Notes       []string              `json:"notes,omitempty"`    // of the driver, while it read

	read    savedtree.Tree // the documents behind the findings: Share removes their values
	private []string       // further values for Share to remove
}

// Usable reports whether a machine behind this BMC can be deployed: all it must have works.
func (r Report) Usable() bool {
	for _, f := range r.Findings {
		if f.Need == Must && f.Verdict != Works {
			return false
		}
	}
	return true
}
