package doctor

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Options are how a BMC is examined; zero durations are the drivers' own.
type Options struct {
	Exercise       Exercise
	ConnectTimeout time.Duration
	RequestTimeout time.Duration
	Pause          time.Duration // between two tries, or looks: 3 s

	// Only is the one operation that is looked at after the login, "" for all; Trials are by the operation. Both are for
	// recorded BMCs.
	Only   string
	Trials map[string]Trial
}

// Examine looks at the BMC that driver_info names, with the driver of n. It answers an error where driver_info is
// wrong; a BMC that cannot be reached is a finding.
func Examine(ctx context.Context, n node.Node, o Options) (Report, error) {
	v := &visit{node: n, exercise: o.Exercise, trials: o.Trials, pause: cmp.Or(o.Pause, 3*time.Second)}
	log := slog.New(notes{v})
	r := Report{private: private(n.DriverInfo)}
	table := redfishOperations
	if n.Driver == "ipmi" {
		d := ipmi.New(ipmi.Options{Log: log})
		if err := d.Validate(n); err != nil {
			return r, err
		}
		r.Address, r.Protocol, table = fmt.Sprint(n.DriverInfo["ipmi_address"]), "IPMI 2.0", ipmiOperations
		v.driver = d
	} else {
		d := redfish.New(redfish.Options{Log: log, Trace: v.saw, Shown: v.read, Odd: v.oddity,
			ConnectTimeout: o.ConnectTimeout, RequestTimeout: o.RequestTimeout, Pause: o.Pause})
		if err := d.Validate(n); err != nil {
			return r, err
		}
		r.Address, r.Protocol = fmt.Sprint(n.DriverInfo["redfish_address"]), "Redfish"
		r.Certificate = certificateOf(ctx, r.Address, cmp.Or(o.ConnectTimeout, 10*time.Second))
		v.driver, v.redfish = d, d
	}
	for i, op := range table {
		if i > 0 && o.Only != "" && o.Only != op.name {
			continue
		}
		f := v.do(ctx, op)
		r.Findings = append(r.Findings, f)
		if i == 0 && f.Verdict != Works {
			for _, later := range table[1:] {
				r.Findings = append(r.Findings, Finding{Operation: later.name, Need: later.need, Verdict: Skipped})
			}
			break
		}
	}
	v.describe(ctx, &r)
	r.read = v.tree
	if err := v.driver.Close(); err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("our session could not be ended: %v", err))
	}
	return r, ctx.Err()
}

// describe fills in the properties of the BMC as a whole.
func (v *visit) describe(ctx context.Context, r *Report) {
	words := func(all ...string) string { return strings.Join(strings.Fields(strings.Join(all, " ")), " ") }
	r.Machine = words(cmp.Or(v.offer.Manufacturer, v.system.Manufacturer), cmp.Or(v.offer.Model, v.system.Model))
	maker := v.offer.Vendor
	if strings.HasPrefix(v.offer.Product, maker) {
		maker = ""
	}
	r.BMC = words(maker, v.offer.Product, v.offer.Firmware)
	r.Protocol = words(r.Protocol, v.offer.Version)
	if v.redfish != nil && r.Findings[0].Verdict == Works {
		var err error
		if r.Sessions, err = v.redfish.OpenSessions(ctx, v.node); err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("the sessions of others cannot be listed: %v", err))
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	r.Notes = append(r.Notes, v.notes...)
	r.Odd = append(v.odd, signsIn(v.tree.Documents(), v.offer.System)...)
}
