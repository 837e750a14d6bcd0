package importing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The outcomes of a record. The first four are the conductor's words, too.
const (
	created    = "created"
	changed    = "changed"
	unchanged  = "unchanged"
	conflict   = "conflict"
	refused    = "refused"
	incomplete = "incomplete" // made, and not yet all that it is here
	leftOut    = "left out"
)

// line is one record's outcome in the report.
type line struct {
	Kind      string               `json:"kind"`
	UUID      string               `json:"uuid"`
	Name      string               `json:"name,omitempty"`
	State     string               `json:"state,omitempty"`
	Outcome   string               `json:"outcome"` // one of the outcomes
	Reason    string               `json:"reason,omitempty"`
	Notes     []string             `json:"notes,omitempty"`
	Changes   []nodeapi.Difference `json:"changes,omitempty"`
	Kept      []nodeapi.Difference `json:"kept,omitempty"`
	Conflicts []nodeapi.Difference `json:"conflicts,omitempty"`
}

// report holds the outcomes of all records of one run.
type report struct {
	source string // the URL of the Ironic
	verb   string // of the summary, before the URL
	dry    bool
	lines  []line
}

func (r *report) add(l line) { r.lines = append(r.lines, l) }

// print prints the outcome of each record.
func (r *report) print(cmd *cobra.Command, s *client.Session) error {
	answer := map[string]any{"source": r.source, "dry_run": r.dry, "records": append([]line{}, r.lines...)}
	if err := output.PrintAny(s, cmd.OutOrStdout(), answer, r.table()); err != nil {
		return err
	}
	count, failed := map[string]int{}, 0
	for _, l := range r.lines {
		count[l.Outcome]++
		switch l.Outcome {
		case conflict, refused, incomplete, leftOut:
			failed++
		}
	}
	verb := r.verb
	participle, _, _ := strings.Cut(verb, " ")
	if r.dry {
		verb = "would be " + verb
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s %s: %d created, %d changed, %d unchanged; not %s: %d conflicts, "+
		"%d refused, %d left out\n", verb, output.VisibleLine(r.source), count[created], count[changed],
		count[unchanged], participle, count[conflict], count[refused]+count[incomplete], count[leftOut])
	if failed > 0 {
		return exit.Is(exit.Refused, fmt.Errorf("%d of %d records are not there as they should be: see the report", failed,
			len(r.lines)))
	}
	return nil
}

func (r *report) table() *output.Table {
	t := output.NewTable("Record", "State", "Outcome", "Details")
	for _, l := range r.lines {
		name := cmp.Or(l.Name, l.UUID)
		if l.Kind != "node" {
			name = l.Kind + " " + name
		}
		t.Row(name, l.State, l.Outcome, strings.Join(l.details(), "\n"))
	}
	return t
}

// details are all that is said of a record, a line each.
func (l line) details() (all []string) {
	for text := range strings.Lines(l.Reason) {
		all = append(all, output.VisibleLine(strings.TrimRight(text, "\n")))
	}
	for _, d := range l.Conflicts {
		all = append(all, "conflict: "+difference(d))
	}
	for _, d := range l.Changes {
		all = append(all, difference(d))
	}
	for _, d := range l.Kept {
		all = append(all, "stays as it is here: "+d.Item)
	}
	for _, n := range l.Notes {
		all = append(all, "note: "+output.VisibleLine(n))
	}
	return all
}

// difference formats a difference as one line: the value here, and the value there.
func difference(d nodeapi.Difference) string {
	text := fmt.Sprintf("%s: %s -> %s", output.VisibleLine(d.Item), shown(d.Here), shown(d.There))
	if d.Secret {
		text += " (another secret)"
	}
	return text
}

// maxShown is how many characters of a value are shown.
const maxShown = 80

func shown(v any) string {
	if v == nil {
		return "none"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	text := []rune(output.VisibleLine(string(raw)))
	if len(text) > maxShown {
		return string(text[:maxShown]) + "..."
	}
	return string(text)
}
