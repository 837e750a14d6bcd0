package node

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Patience is how long a BMC and its machine are waited for.
type Patience struct {
	Connect  time.Duration // for a connection to the BMC
	Request  time.Duration // for the answer to one request, and for each of the regular readings of the power state
	Call     time.Duration // for one operation, with all its requests
	Verify   time.Duration // for a verification of the node
	Power    time.Duration // until the machine is on or off
	BootMode time.Duration // until the firmware has taken a boot mode or secure boot
}

// Scan is how long a description of the whole machine may take: a request for each part.
func (p Patience) Scan() time.Duration { return min(5*p.Call, max(p.Call, time.Hour)) }

// PatienceSetting is one of the times, and its name in driver_info and among the flags of
// ferrite serve.
type PatienceSetting struct {
	Name        string // of the flag; driver_info has _ for -
	Default     time.Duration
	Least, Most time.Duration
	Help        string
	Of          func(p *Patience) *time.Duration
}

// Key is the name in driver_info; its values are seconds.
func (s PatienceSetting) Key() string { return strings.ReplaceAll(s.Name, "-", "_") }

// PatienceSettings lists all of them. A BMC that answers each request in eight seconds can
// be enrolled with the defaults; Ironic's are 30 s to connect and 60 s to read (conf/redfish.py).
func PatienceSettings() []PatienceSetting {
	const s, m, h = time.Second, time.Minute, time.Hour
	return []PatienceSetting{
		{"bmc-connect-timeout", 10 * s, s, 5 * m, "time limit of a connection to a BMC",
			func(p *Patience) *time.Duration { return &p.Connect }},
		{"bmc-request-timeout", 30 * s, s, 10 * m,
			"time limit of one request to a BMC, and of one reading of its power state",
			func(p *Patience) *time.Duration { return &p.Request }},
		{"bmc-call-timeout", 90 * s, 2 * s, h, "time limit of one call to a BMC, with all its requests; " +
			"inspection may take five times as long",
			func(p *Patience) *time.Duration { return &p.Call }},
		{"bmc-verify-timeout", 90 * s, 2 * s, h, "time limit of one verification of a BMC",
			func(p *Patience) *time.Duration { return &p.Verify }},
		{"power-timeout", m, s, 2 * h, "time limit of a power change",
			func(p *Patience) *time.Duration { return &p.Power }},
		{"boot-mode-timeout", 15 * m, 10 * s, 2 * h, "time limit of a change of boot mode or secure boot, for which the " +
			"firmware may have to start",
			func(p *Patience) *time.Duration { return &p.BootMode }},
	}
}

// DefaultPatience has the defaults.
func DefaultPatience() (p Patience) {
	for _, s := range PatienceSettings() {
		*s.Of(&p) = s.Default
	}
	return p
}

// Patience reads the times of driver_info. A missing time is taken from otherwise.
func (n *Node) Patience(otherwise Patience) (Patience, error) {
	for _, s := range PatienceSettings() {
		value, set := n.DriverInfo[s.Key()]
		if !set || value == nil {
			continue
		}
		seconds, ok := wholeSeconds(value)
		if !ok || seconds < s.Least.Seconds() || seconds > s.Most.Seconds() {
			return otherwise, Refuse(Invalid, "driver_info: %s must be a whole number of seconds from %.0f to %.0f, not %v",
				s.Key(), s.Least.Seconds(), s.Most.Seconds(), value)
		}
		*s.Of(&otherwise) = time.Duration(seconds) * time.Second
	}
	return otherwise, nil
}

func wholeSeconds(value any) (float64, bool) {
	switch v := value.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, v == math.Trunc(v)
	case string:
		i, err := strconv.Atoi(v)
		return float64(i), err == nil
	}
	return 0, false
}
