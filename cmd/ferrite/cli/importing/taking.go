package importing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// line is what has become of one record, as the report has it.
type line struct {
	Kind      string               `json:"kind"`
	UUID      string               `json:"uuid"`
	Name      string               `json:"name,omitempty"`
	State     string               `json:"state,omitempty"`
	Outcome   string               `json:"outcome"` // created, changed, unchanged, conflict, refused or left out
	Reason    string               `json:"reason,omitempty"`
	Notes     []string             `json:"notes,omitempty"`
	Changes   []nodeapi.Difference `json:"changes,omitempty"`
	Kept      []nodeapi.Difference `json:"kept,omitempty"`
	Conflicts []nodeapi.Difference `json:"conflicts,omitempty"`
}

// The outcomes beside those of the API.
const (
	refused = "refused"
	leftOut = "left out"
)

// taking is one run: it sends records to the conductor, and remembers what has become of each.
type taking struct {
	session        *client.Session
	source         string
	dry, overwrite bool
	lines          []line
	verb           string // of the summary
	stopped        string // why no more is sent; "" while it is
}

// record takes over a chassis, a deploy template or a runbook.
func (t *taking) record(ctx context.Context, kind string, r translate.Record) {
	uuid, _ := r["uuid"].(string)
	name, _ := r["name"].(string)
	body := map[string]any{kind: r, "source": t.source, "dry_run": t.dry, "overwrite": t.overwrite}
	l := line{Kind: strings.ReplaceAll(kind, "_", " "), UUID: uuid, Name: name}
	t.lines = append(t.lines, t.send(ctx, body, "", l))
}

// node takes over a node.
func (t *taking) node(ctx context.Context, n *translate.Node) {
	l := line{Kind: "node", UUID: n.UUID, Name: n.Name, State: n.State, Notes: n.Notes}
	if n.Skip != "" {
		l.Outcome, l.Reason = leftOut, n.Skip
		t.lines = append(t.lines, l)
		return
	}
	group, _ := n.Import.Node["conductor_group"].(string)
	n.Import.Source, n.Import.DryRun, n.Import.Overwrite = t.source, t.dry, t.overwrite
	l = t.send(ctx, n.Import, group, l)
	// The conductor may know no config drive that the mask could stand for.
	if l.Outcome == refused && strings.Contains(l.Reason, nodeapi.Masked) && n.DropConfigDrive() {
		l.Notes = n.Notes
		l = t.send(ctx, n.Import, group, l)
	}
	if masked := n.Masked(); l.Outcome == refused && len(masked) > 0 && strings.Contains(l.Reason, nodeapi.Masked) {
		l.Reason = fmt.Sprintf("Ironic's API masks %s: set IRONIC_DATABASE, or give --secrets", strings.Join(masked, ", "))
	}
	t.lines = append(t.lines, l)
}

// send sends one record. Where the conductor refuses it, the others go on; where it is away, or the login has ended,
// they are left out.
func (t *taking) send(ctx context.Context, body any, group string, l line) line {
	if t.stopped != "" {
		l.Outcome, l.Reason = leftOut, t.stopped
		return l
	}
	path := nodeapi.ImportPath
	if group != "" {
		path += "?" + url.Values{nodeapi.ImportGroup: {group}}.Encode()
	}
	var done nodeapi.Imported
	err := t.session.Client.Do(ctx, http.MethodPost, path, body, &done)
	l.Outcome, l.Reason, l.Changes, l.Kept, l.Conflicts = done.Outcome, "", done.Changes, done.Kept, done.Conflicts
	var fault *nodeapi.Fault
	switch {
	case client.Unserved(err):
		l.Outcome, l.Reason = refused, "this conductor takes no imports: it is older than this command, or no Ferrite"
	case errors.As(err, &fault):
		l.Outcome, l.Reason = refused, fault.Text
		if fault.Status == http.StatusUnauthorized {
			t.stopped = "the login at this conductor has ended: log in again, and import again"
		}
	case err != nil:
		l.Outcome, l.Reason = refused, err.Error()
		t.stopped = "this conductor does not answer: import again when it does"
	case done.Outcome == "conflict":
		l.Reason = "changed here and there; nothing of it was taken over: --overwrite takes what is there"
		if slices.ContainsFunc(done.Conflicts, func(d nodeapi.Difference) bool { return d.Secret }) {
			l.Reason = "nothing of it was taken over. A secret differs, and it is not known which side has changed it: " +
				"--overwrite takes Ironic's; import without --secrets and IRONIC_DATABASE keeps yours"
		}
	}
	return l
}

// report prints what has become of each record.
func (t *taking) report(cmd *cobra.Command) error {
	raw, err := json.Marshal(map[string]any{"source": t.source, "dry_run": t.dry, "records": append([]line{}, t.lines...)})
	if err != nil {
		return err
	}
	if err := output.PrintAny(t.session, cmd.OutOrStdout(), raw, t.rows); err != nil {
		return err
	}
	count, failed := map[string]int{}, 0
	for _, l := range t.lines {
		count[l.Outcome]++
		if l.Outcome == refused || l.Outcome == leftOut || l.Outcome == "conflict" ||
			l.Outcome == incomplete {
			failed++
		}
	}
	verb := cmp.Or(t.verb, "imported from")
	participle, _, _ := strings.Cut(verb, " ")
	if t.dry {
		verb = "would be " + verb
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s %s: %d created, %d changed, %d unchanged; not %s: %d conflicts, "+
		"%d refused, %d left out\n", verb, output.VisibleLine(t.source), count["created"], count["changed"],
		count["unchanged"], participle, count["conflict"], count[refused]+count[incomplete], count[leftOut])
	if failed > 0 {
		return exit.Is(exit.Refused, fmt.Errorf("%d of %d records are not there as they should be: see the report", failed,
			len(t.lines)))
	}
	return nil
}

func (t *taking) rows(w table.Writer) error {
	w.AppendHeader(table.Row{"Record", "State", "Outcome", "What"})
	for _, l := range t.lines {
		name := l.Name
		if name == "" {
			name = l.UUID
		}
		if l.Kind != "node" {
			name = l.Kind + " " + name
		}
		w.AppendRow(table.Row{output.VisibleLine(name), l.State, l.Outcome, strings.Join(l.what(), "\n")})
	}
	return nil
}

// what is said of a record, a line each.
func (l line) what() (all []string) {
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

// difference is one in a line: what is here, and what is there.
func difference(d nodeapi.Difference) string {
	text := fmt.Sprintf("%s: %s -> %s", output.VisibleLine(d.Item), shown(d.Here), shown(d.There))
	if d.Secret {
		text += " (another secret)"
	}
	return text
}

// longest is how much of a value is shown.
const longest = 80

func shown(v any) string {
	if v == nil {
		return "none"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	text := []rune(output.VisibleLine(string(raw)))
	if len(text) > longest {
		return string(text[:longest]) + "..."
	}
	return string(text)
}
