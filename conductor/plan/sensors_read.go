package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// criticalParts is the key in driver_internal_info for the parts with critical health at the last reading. So a part is
// reported once, also across a restart of the conductor.
const criticalParts = "critical_parts"

// SensorsRead is the result of a reading of sensors: the parts that are critical, as "Drive Bay 3".
type SensorsRead struct {
	simple
	Critical []string
}

// SensorNews reports whether a reading changes the record of n.
func SensorNews(n node.Node, e SensorsRead) bool { return !slices.Equal(knownCritical(n), e.Critical) }

// knownCritical are the parts on record; a node that was read from the store has them as any.
func knownCritical(n node.Node) (names []string) {
	switch list := n.DriverInternalInfo[criticalParts].(type) {
	case []string:
		return list
	case []any:
		for _, v := range list {
			names = append(names, fmt.Sprint(v))
		}
	}
	return names
}

// namedParts bounds how many parts one line of the history names, and keptParts how many are on record.
const (
	namedParts = 8
	keptParts  = 64
)

// handle records which parts have become critical, and which are so no longer.
func (e SensorsRead) handle(d *decision) error {
	was, is := knownCritical(d.n), e.Critical[:min(len(e.Critical), keptParts)]
	if slices.Equal(was, is) {
		return nil
	}
	if newly := without(is, was); len(newly) > 0 {
		d.noteMonitoring("WARNING", "the health of "+someOf(newly)+" is critical: see ferrite node sensors "+
			cmp.Or(d.n.Name, d.n.UUID))
	}
	if gone := without(was, is); len(gone) > 0 {
		d.noteMonitoring("INFO", "the health of "+someOf(gone)+" is critical no longer, or the part is gone")
	}
	if len(is) == 0 {
		delete(d.n.DriverInternalInfo, criticalParts)
	} else {
		d.setInternal(criticalParts, slices.Clone(is))
	}
	d.dirty = true
	return nil
}

// without is the names of a list that another does not have.
func without(all, others []string) (out []string) {
	for _, name := range all {
		if !slices.Contains(others, name) {
			out = append(out, name)
		}
	}
	return out
}

func someOf(names []string) string {
	text := strings.Join(names[:min(len(names), namedParts)], ", ")
	if more := len(names) - namedParts; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return Clip(text)
}

// noteMonitoring adds a line to the history that no run has caused.
func (d *decision) noteMonitoring(severity, text string) {
	d.note(severity, text)
	d.history[len(d.history)-1].EventType = powerEvent
}
