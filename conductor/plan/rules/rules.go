// Package rules applies operators' inspection rules to inspection data, as Ironic's rules are: when all conditions of
// a rule hold, its actions change the node, its ports, its traits and the stored data of the inspection.
//
// It is pure: plain data in, plain data out. Rules are checked when they are written (Conditions, Actions) and carried
// out when data has come (Apply). The data comes from a machine that may be hostile: rules end soon and never panic,
// for any data.
package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Found holds the findings of an inspection, and its node.
type Found struct {
	Node       node.Node
	Ports      []node.Port
	Inventory  map[string]any
	PluginData map[string]any // the data beside the inventory
	NameTaken  string         // a name that another node has, "" when none is known
}

// Outcome is the result of rules.
type Outcome struct {
	Found
	Lines []Line // to be reported, in order
	Calls []Call // to be made, in order, once the rest is saved
}

// Line is a line for the log: text of a rule, or a field that it could not look up.
type Line struct {
	Severity string // INFO, WARNING or ERROR
	Text     string
}

// Call is a GET that a rule wants made.
type Call struct {
	Rule    string            `json:"rule"` // its UUID
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Timeout time.Duration     `json:"timeout"` // of one try
	Retries int               `json:"retries"` // after the first try
	Backoff float64           `json:"backoff"` // seconds before the second try; twice as long before each one more
}

// Apply carries rules out: the highest priority first, and rules of the same priority in the order given. found is not
// changed. When a rule fails, the error names it, and only the lines of the outcome count: the changes of earlier rules
// are dropped.
func Apply(list []node.InspectionRule, found Found) (Outcome, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y node.InspectionRule) int { return cmp.Compare(y.Priority, x.Priority) })
	r := &evaluation{out: Outcome{Found: copyFound(found)}, left: maxWork}
	for i := range list {
		if err := r.rule(&list[i]); err != nil {
			return Outcome{Found: found, Lines: r.lines()}, fmt.Errorf("inspection rule %s: %w", nameOf(&list[i]), err)
		}
	}
	if err := r.checkSize(&found); err != nil {
		return Outcome{Found: found, Lines: r.lines()}, fmt.Errorf("inspection rules: %w", err)
	}
	if err := node.CheckKeys(found.Node, r.out.Node); err != nil {
		return Outcome{Found: found, Lines: r.lines()}, fmt.Errorf("inspection rules: %w", err)
	}
	r.out.Lines = r.lines()
	return r.out, nil
}

// nameOf is a rule for people: rules have no names.
func nameOf(r *node.InspectionRule) string {
	if r.Description == "" {
		return r.UUID
	}
	return fmt.Sprintf("%s (%s)", r.UUID, r.Description)
}

// evaluation is the work of one Apply.
type evaluation struct {
	out     Outcome
	by      *node.InspectionRule // the one at work
	item    any                  // of the loop at work
	looping bool
	quiet   bool            // in conditions: missing values are not reported
	touched map[string]bool // objects that were written to
	dropped int             // lines that were too many
	left    int             // of the work one inspection may cause
}

// rule carries one out.
func (r *evaluation) rule(of *node.InspectionRule) error {
	r.by = of
	r.quiet = true
	for i := range of.Conditions {
		holds, err := r.condition(&of.Conditions[i])
		if err != nil {
			return r.failed("condition", of.Conditions[i].Op, err)
		}
		if !holds {
			return nil
		}
	}
	r.quiet = false
	for i := range of.Actions {
		if err := r.action(&of.Actions[i]); err != nil {
			return r.failed("action", of.Actions[i].Op, err)
		}
	}
	if name := r.out.Node.Name; name != "" && name == r.out.NameTaken {
		return fmt.Errorf("the name %s is another node's", name)
	}
	return nil
}

// failed says which clause has failed. For a sensitive rule the cause is withheld, since it
// may quote the rule.
func (r *evaluation) failed(what, op string, why error) error {
	if r.by.Sensitive && op != "fail" {
		return fmt.Errorf("%s %s failed; the reason is hidden, since the rule is sensitive", what, op)
	}
	return fmt.Errorf("%s %s: %w", what, op, why)
}

// maxLines bounds the log lines of one inspection's rules.
const maxLines = 50

func (r *evaluation) logLine(severity, text string) {
	if len(r.out.Lines) >= maxLines {
		r.dropped++
		return
	}
	r.out.Lines = append(r.out.Lines, Line{severity, text})
}

func (r *evaluation) lines() []Line {
	if r.dropped == 0 {
		return r.out.Lines
	}
	return append(r.out.Lines, Line{"WARNING", fmt.Sprintf("%d more lines of inspection rules are left out", r.dropped)})
}

// copyFound copies all that rules may change.
func copyFound(f Found) Found {
	n := f.Node.Clone()
	for _, m := range []*map[string]any{&n.DriverInfo, &n.Properties, &n.InstanceInfo, &n.Extra, &n.NetworkData} {
		*m = copyObject(*m)
	}
	ports := slices.Clone(f.Ports)
	for i := range ports {
		ports[i].LocalLinkConnection, ports[i].Extra = copyObject(ports[i].LocalLinkConnection), copyObject(ports[i].Extra)
	}
	return Found{Node: n, Ports: ports, Inventory: f.Inventory, PluginData: copyObject(f.PluginData),
		NameTaken: f.NameTaken}
}

func copyObject(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	c, _ := copyValue(m).(map[string]any)
	return c
}

// copyValue copies a decoded JSON value, so that nothing is shared.
func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, item := range v {
			c[k] = copyValue(item)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, item := range v {
			c[i] = copyValue(item)
		}
		return c
	}
	return v
}
