package node

import (
	"slices"
	"strings"
)

// DeployTemplate is a named list of deploy steps. Its name is a trait: the
// steps are added to the deploys of the nodes that are asked to have it.
type DeployTemplate struct {
	Record
	Name  string         `json:"name"`
	Steps []Step         `json:"steps"` // with their priority
	Extra map[string]any `json:"extra,omitempty"`
}

// Kind returns the name of this kind of record for messages.
func (*DeployTemplate) Kind() string { return "deploy template" }

// Keys is the name.
func (t *DeployTemplate) Keys() []Key { return []Key{named("deploy template", t.Name)} }

// Runbook is a named list of steps to clean or service a node with. Operators
// approve nodes for it by traits: until microversion 1.112 a node needs its
// name for a trait, from then on any of its Traits.
type Runbook struct {
	Record
	Name           string         `json:"name"`
	Description    string         `json:"description,omitempty"`
	Steps          []RunbookStep  `json:"steps"`
	Traits         []string       `json:"traits,omitempty"` // sorted, none twice
	DisableRamdisk bool           `json:"disable_ramdisk,omitempty"`
	Public         bool           `json:"public,omitempty"`
	Owner          string         `json:"owner,omitempty"`
	Extra          map[string]any `json:"extra,omitempty"`
}

// Kind returns the name of this kind of record for messages.
func (*Runbook) Kind() string { return "runbook" }

// Keys is the name.
func (r *Runbook) Keys() []Key {
	return []Key{named("runbook", r.Name), {Column: "owner", Value: r.Owner}}
}

// RunbookStep is a step and its place among the others.
type RunbookStep struct {
	Step
	Order int `json:"order"`
}

// Check refuses a template that has a step twice.
func (t *DeployTemplate) Check() error {
	if twice := repeated(t.Steps, func(s Step) Step { return s }); twice != "" {
		return Refuse(Invalid,
			"Deploy template invalid: Duplicate deploy steps. A template cannot have multiple deploy steps with the same "+
				"interface and step. Duplicates: %s.", twice)
	}
	return nil
}

// Check refuses a runbook that has a step twice, or is both owned and public.
func (r *Runbook) Check() error {
	if twice := repeated(r.Steps, func(s RunbookStep) Step { return s.Step }); twice != "" {
		return Refuse(Invalid,
			"Runbook invalid: Duplicate steps. A runbook cannot have multiple steps with the same interface and step. "+
				"Duplicates: %s.", twice)
	}
	if r.Public && r.Owner != "" {
		return Refuse(Invalid, "Runbook invalid: There cannot be an owner for a public runbook.")
	}
	return nil
}

// repeated names the steps that are there more than once.
func repeated[S any](steps []S, of func(S) Step) string {
	count := map[string]int{}
	var twice []string
	for _, s := range steps {
		step := of(s)
		name := "interface: " + step.Interface + ", step: " + step.Step
		if count[name]++; count[name] == 2 {
			twice = append(twice, name)
		}
	}
	slices.Sort(twice)
	return strings.Join(twice, "; ")
}
