package fsm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Row is one transition of a table. States and events are words.
type Row[S, E ~string] interface {
	Edge() (from S, on E, to S)
	Label() string  // the event as the diagram shows it
	Reason() string // one clause, for people
}

// Table is a machine made of rows. Two rows never have both state and event in
// common: see Check.
type Table[S, E ~string, R Row[S, E]] struct {
	rows  []R
	index map[S]map[E]*R
}

// New makes a machine of rows, which must not change afterwards.
func New[R Row[S, E], S, E ~string](rows []R) Table[S, E, R] {
	t := Table[S, E, R]{rows, map[S]map[E]*R{}}
	for i := range rows {
		from, on, _ := rows[i].Edge()
		if t.index[from] == nil {
			t.index[from] = map[E]*R{}
		}
		t.index[from][on] = &rows[i]
	}
	return t
}

// Row finds the row for an event in a state; nil when there is none.
func (t Table[S, E, R]) Row(s S, e E) *R { return t.index[s][e] }

// Next returns the state that an event leads to. Without a row the state stays,
// and ok is false.
func (t Table[S, E, R]) Next(s S, e E) (next S, ok bool) {
	row := t.Row(s, e)
	if row == nil {
		return s, false
	}
	_, _, to := (*row).Edge()
	return to, true
}

// diagramID makes an identifier of a state: Mermaid takes neither spaces nor hyphens.
var diagramID = strings.NewReplacer(" ", "_", "-", "_")

// Mermaid renders the table as a Mermaid state diagram, in table order. A state
// without a name is called none.
func (t Table[S, E, R]) Mermaid() string {
	id := func(s S) string { return cmp.Or(diagramID.Replace(string(s)), "none") }
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, row := range t.rows {
		from, _, to := row.Edge()
		fmt.Fprintf(&b, "    %s --> %s: %s\n", id(from), id(to), row.Label())
	}
	return b.String()
}

// Check lists the faults of a table: a state that cannot be reached from the
// initial ones, a state that is never left and is not final, two rows for one event
// in one state, and a row without a reason.
func (t Table[S, E, R]) Check(states, initial, final []S) (faults []error) {
	seen := map[S]map[E]bool{}
	for _, row := range t.rows {
		from, on, _ := row.Edge()
		if seen[from] == nil {
			seen[from] = map[E]bool{}
		}
		if seen[from][on] {
			faults = append(faults, fmt.Errorf("two rows for %q on %q", from, on))
		}
		seen[from][on] = true
		if row.Reason() == "" {
			faults = append(faults, fmt.Errorf("%q on %q has no reason", from, on))
		}
	}
	reached := t.reachable(initial)
	for _, s := range states {
		if !reached[s] {
			faults = append(faults, fmt.Errorf("%q cannot be reached", s))
		}
		if seen[s] == nil && !slices.Contains(final, s) {
			faults = append(faults, fmt.Errorf("%q cannot be left", s))
		}
	}
	return faults
}

// reachable are the states that rows lead to from the initial ones, and those.
func (t Table[S, E, R]) reachable(initial []S) map[S]bool {
	reached := map[S]bool{}
	for _, s := range initial {
		reached[s] = true
	}
	for range t.rows { // enough rounds for a fixed point
		for _, row := range t.rows {
			if from, _, to := row.Edge(); reached[from] {
				reached[to] = true
			}
		}
	}
	return reached
}
