package erase

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// DiskPlan is the plan for one disk.
type DiskPlan struct {
	agentapi.ErasePlan
	facts   Facts
	methods []Method
	failed  []agentapi.EraseAttempt // methods that cannot work in the state the disk is in
}

// Plan decides how each disk is erased: by the first method of the table it has, then the next if that fails. After a
// failure of the drive's own firmware the operator must allow the next method, because it reaches less. Plan is pure.
func Plan(facts []Facts, o Options) []DiskPlan { return PlanOf(Methods(), facts, o) }

// Express is the plan of erase_devices_express: instant methods only. A disk without
// one has an empty plan.
func Express(facts []Facts, o Options) []DiskPlan {
	o.Continue = true // the metadata are wiped in its place
	var fast []Method
	for _, m := range Methods() {
		if strings.HasPrefix(m.Name, "nvme_") {
			fast = append(fast, m)
		}
	}
	return PlanOf(fast, facts, o)
}

// PlanOf is Plan with a table of its own.
func PlanOf(table []Method, facts []Facts, o Options) []DiskPlan {
	plans := make([]DiskPlan, 0, len(facts))
	for _, f := range facts {
		plans = append(plans, planDisk(table, f, o))
	}
	return plans
}

func planDisk(table []Method, f Facts, o Options) DiskPlan {
	d := f.Disk
	p := DiskPlan{facts: f, ErasePlan: agentapi.ErasePlan{
		Device: d.Name, Model: d.Model, Serial: d.Serial, Size: d.Size, Methods: []string{},
		NotTaken: []agentapi.EraseNotTaken{}, Skipped: f.Skip,
	}}
	if p.Skipped == "" && f.ReadOnly && o.SkipReadOnly {
		p.Skipped = "read-only, and agent_erase_skip_read_only is set"
	}
	if p.Skipped != "" {
		return p
	}
	if p.Refused = f.refusal(o); p.Refused != "" {
		return p
	}
	stop := ""
	for _, m := range table {
		v := m.can(f, o)
		if v.reason == "" && stop != "" {
			v.reason = fmt.Sprintf("only if %s failed, and agent_continue_if_secure_erase_failed does not allow it", stop)
		}
		if v.reason != "" {
			p.NotTaken = append(p.NotTaken, agentapi.EraseNotTaken{Method: m.Name, Reason: v.reason})
		} else {
			p.methods, p.Methods = append(p.methods, m), append(p.Methods, m.Name)
		}
		if v.blocked {
			p.failed = append(p.failed, agentapi.EraseAttempt{Method: m.Name, Error: v.reason})
		}
		if m.Firmware && !o.Continue && stop == "" && (v.reason == "" || v.blocked) {
			stop = m.Name
		}
	}
	if len(p.methods) == 0 && len(p.failed) > 0 {
		p.Refused = p.failed[0].Method + ": " + p.failed[0].Error
	}
	return p
}

// Wire is the plans as they are reported.
func Wire(plans []DiskPlan) []agentapi.ErasePlan {
	out := make([]agentapi.ErasePlan, len(plans))
	for i, p := range plans {
		out[i] = p.ErasePlan
	}
	return out
}

// GoesOn reports whether the drive itself erases, by a command that cannot be stopped
// once it is sent. It is also true if nothing is known of the disk.
func (p DiskPlan) GoesOn() bool {
	return p.facts.Problem != "" || slices.ContainsFunc(p.methods, func(m Method) bool { return m.Firmware })
}

// String is the plan in a clause: "discard, then zero_out, then overwrite".
func (p DiskPlan) String() string {
	switch {
	case p.Skipped != "":
		return "left alone: " + p.Skipped
	case p.Refused != "":
		return "refused: " + p.Refused
	case len(p.Methods) == 0:
		return "no method"
	}
	return strings.Join(p.Methods, ", then ")
}
