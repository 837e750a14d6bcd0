package node

// InspectionRule is an operator's rule for the findings of an inspection: if all conditions hold, all actions are
// taken. Package rules defines the operators and actions.
type InspectionRule struct {
	Record
	Description string   `json:"description,omitempty"`
	Priority    int      `json:"priority,omitempty"` // 0 to 9999; the highest goes first
	Phase       string   `json:"phase"`              // MainPhase, the only one there is
	Sensitive   bool     `json:"sensitive,omitempty"`
	Conditions  []Clause `json:"conditions,omitempty"`
	Actions     []Clause `json:"actions"`
}

// Clause is one condition or action of an inspection rule, as it was written.
type Clause struct {
	Op       string `json:"op"`                 // of a condition, a leading ! turns it around
	Args     any    `json:"args"`               // an object by name, or a list by position
	Loop     any    `json:"loop,omitempty"`     // a list: each of its items becomes {item} once; or one object
	Multiple string `json:"multiple,omitempty"` // of a condition with a loop: any, all, first or last
}

// MainPhase is the time at which inspection rules run: after the findings have become ports and properties, and before
// the node is saved.
const MainPhase = "main"

// maxPriority is the highest priority of an operator's rule.
const maxPriority = 9999

// Kind returns the name of this kind of record for messages.
func (*InspectionRule) Kind() string { return "inspection rule" }

// Keys is the phase.
func (r *InspectionRule) Keys() []Key { return []Key{{Column: "phase", Value: r.Phase}} }

// Check refuses a rule that would never run, or does nothing.
func (r *InspectionRule) Check() error {
	switch {
	case r.Phase != MainPhase:
		return Refuse(Invalid, "Invalid phase: %s. Valid phases are: %s", r.Phase, MainPhase)
	case r.Priority < 0:
		return Refuse(Invalid, "Priority cannot be negative for user-defined rules.")
	case r.Priority > maxPriority:
		return Refuse(Invalid, "Priority must be between 0 and %d for user-defined rules.", maxPriority)
	case len(r.Actions) == 0:
		return Refuse(Invalid, "An inspection rule must have at least one action.")
	}
	return nil
}
