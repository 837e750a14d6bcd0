package follow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Text is an event as a line for people: the local time, the node, and the changes.
func Text(e nodeapi.Event) string {
	at := e.At
	if t, err := time.Parse(time.RFC3339Nano, e.At); err == nil {
		at = output.Time(t)
	}
	of := "-"
	switch {
	case e.Node != nil:
		of = cmp.Or(e.Node.Name, e.Node.UUID)
	case e.Document != nil:
		of = strings.TrimPrefix(e.Document.Namespace+"/"+e.Document.Name, "/")
	}
	line := fmt.Sprintf("%s  %-10s  %-10s  %s", at, of, e.Type, said(e))
	if e.User != "" {
		line += " (by " + e.User + ")"
	}
	return output.VisibleLine(strings.TrimRight(line, " "))
}

// said is the content of an event besides its type.
func said(e nodeapi.Event) string {
	var parts []string
	for _, m := range e.Moves {
		move := cmp.Or(m.From, "new") + " -> " + m.To
		if m.On != "" { // of a node
			move += " (" + m.On + ")"
		}
		parts = append(parts, move)
	}
	if e.Power != nil {
		parts = append(parts, fmt.Sprintf("%s -> %s", cmp.Or(e.Power.From, "unknown"), cmp.Or(e.Power.To, "unknown")))
	}
	for _, n := range e.Notes {
		parts = append(parts, n.Text)
	}
	if e.Record != nil {
		parts = append(parts, strings.TrimSpace(e.Record.Kind+" "+cmp.Or(e.Record.Name, e.Record.UUID)))
	}
	if d := e.Document; d != nil {
		parts = append(parts, documentSaid(e, *d)...)
	}
	for _, id := range slices.Sorted(maps.Keys(e.Ports)) {
		parts = append(parts, "port "+id+" "+e.Ports[id])
	}
	if e.Stage != nil {
		parts = append(parts, strings.TrimSpace(e.Stage.Name+" "+e.Stage.Detail))
	}
	if p := e.Progress; p != nil {
		parts = append(parts, progress(*p))
	}
	if len(parts) == 0 && len(e.Changed) > 0 {
		parts = append(parts, strings.Join(e.Changed, ", "))
	}
	return strings.Join(parts, "; ")
}

// documentSaid is the content of an event about a document: the changed parts, and a host's error.
func documentSaid(e nodeapi.Event, d nodeapi.EventDocument) (parts []string) {
	if d.Kind != hostapi.KindHost {
		parts = append(parts, strings.TrimSpace(d.Kind+" "+strings.Join(e.Changed, ", ")))
	} else if len(e.Moves) == 0 && len(e.Changed) > 0 {
		parts = append(parts, strings.Join(e.Changed, ", "))
	}
	if d.Error != "" {
		parts = append(parts, d.Error)
	}
	return parts
}

func progress(p nodeapi.EventProgress) string {
	text := fmt.Sprintf("%s, %s: %d bytes", p.Step, p.Stage, p.Done)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %d, %d %%", p.Total, 100*p.Done/p.Total)
	}
	return text
}
