package importing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// importer is one run: it sends records to the conductor, and reports each record's outcome.
type importer struct {
	session   *client.Session
	overwrite bool
	report
	stopped string // why no more is sent; "" while it is
}

// record takes over a chassis, a deploy template or a runbook.
func (i *importer) record(ctx context.Context, kind string, r translate.Record) {
	uuid, _ := r["uuid"].(string)
	name, _ := r["name"].(string)
	body := map[string]any{kind: r, "source": i.source, "dry_run": i.dry, "overwrite": i.overwrite}
	l := line{Kind: strings.ReplaceAll(kind, "_", " "), UUID: uuid, Name: name}
	i.add(i.send(ctx, body, "", l))
}

// node takes over a node.
func (i *importer) node(ctx context.Context, n *translate.Node) {
	l := line{Kind: "node", UUID: n.UUID, Name: n.Name, State: n.State, Notes: n.Notes}
	if n.Skip != "" {
		l.Outcome, l.Reason = leftOut, n.Skip
		i.add(l)
		return
	}
	group, _ := n.Import.Node["conductor_group"].(string)
	n.Import.Source, n.Import.DryRun, n.Import.Overwrite = i.source, i.dry, i.overwrite
	l = i.send(ctx, n.Import, group, l)
	// The conductor may know no config drive that the mask could stand for.
	if l.Outcome == refused && strings.Contains(l.Reason, nodeapi.Masked) && n.DropConfigDrive() {
		l.Notes = n.Notes
		l = i.send(ctx, n.Import, group, l)
	}
	if masked := n.Masked(); l.Outcome == refused && len(masked) > 0 && strings.Contains(l.Reason, nodeapi.Masked) {
		l.Reason = fmt.Sprintf("Ironic's API masks %s: set IRONIC_DATABASE, or give --secrets", strings.Join(masked, ", "))
	}
	i.add(l)
}

// send sends one record. Where the conductor refuses it, the others go on; where it is away, or the login has ended,
// they are left out.
func (i *importer) send(ctx context.Context, body any, group string, l line) line {
	if i.stopped != "" {
		l.Outcome, l.Reason = leftOut, i.stopped
		return l
	}
	path := nodeapi.ImportPath
	if group != "" {
		path += "?" + url.Values{nodeapi.ImportGroup: {group}}.Encode()
	}
	var done nodeapi.Imported
	err := i.session.Client.Do(ctx, http.MethodPost, path, body, &done)
	l.Outcome, l.Reason, l.Changes, l.Kept, l.Conflicts = done.Outcome, "", done.Changes, done.Kept, done.Conflicts
	var fault *nodeapi.Fault
	switch {
	case client.Unserved(err):
		l.Outcome, l.Reason = refused, "this conductor takes no imports: it is older than this command, or no Ferrite"
	case errors.As(err, &fault):
		l.Outcome, l.Reason = refused, fault.Text
		if fault.Status == http.StatusUnauthorized {
			i.stopped = "the login at this conductor has ended: log in again, and import again"
		}
	case err != nil:
		l.Outcome, l.Reason = refused, err.Error()
		i.stopped = "this conductor does not answer: import again when it does"
	case done.Outcome == conflict:
		l.Reason = "changed here and there; nothing of it was taken over: --overwrite takes what is there"
		if slices.ContainsFunc(done.Conflicts, func(d nodeapi.Difference) bool { return d.Secret }) {
			l.Reason = "nothing of it was taken over. A secret differs, and it is not known which side has changed it: " +
				"--overwrite takes Ironic's; import without --secrets and IRONIC_DATABASE keeps yours"
		}
	}
	return l
}
