package importing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/ironic"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

const exportHelp = `Give nodes back to an Ironic, by its API: they are made there with their UUIDs, ports, portgroups, volumes,
traits and allocations; then manage has Ironic look at each BMC, and adopt takes over the nodes that are active.
Nothing is done to a machine, and nothing is changed here. A node that is there already is left as it is.

The conductor masks passwords: --secrets has them. VIFs, history and RAID configurations are not taken along; available
nodes are manageable there, since Ironic cleans a node to make it available.`

// ExportCommand is ferrite export.
func ExportCommand(s *client.Session) *cobra.Command {
	return client.Group("export", "Give nodes back to an Ironic", "Give the nodes of this conductor to another program.",
		exportIronicCommand(s))
}

// ironicExport is one export to an Ironic.
type ironicExport struct{ peer }

func exportIronicCommand(s *client.Session) *cobra.Command {
	e := &ironicExport{peer{session: s}}
	cmd := &cobra.Command{
		Use: "ironic URL", Short: "Give nodes back to an Ironic", Long: exportHelp, Args: cobra.ExactArgs(1),
		Example: `  ferrite export ironic http://ironic:6385 --secrets secrets.yaml --dry-run
  ferrite export ironic http://ironic:6385 --secrets secrets.yaml --select owner=blue`,
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0]) },
	}
	e.flags(cmd, "only show the nodes to be made")
	return cmd
}

func (e *ironicExport) run(cmd *cobra.Command, url string) error {
	ctx := cmd.Context()
	selection, options, err := e.options()
	if err != nil {
		return err
	}
	options.KeepRamdisks = true
	if err := e.readSecrets(options.Secrets); err != nil {
		return err
	}
	to, err := e.open(cmd, url)
	if err != nil {
		return err
	}
	if options.Drivers, err = driversThere(ctx, to); err != nil {
		return err
	}
	here, err := readHere(ctx, e.session, to.Minor())
	if err != nil {
		return err
	}
	nodes := translate.Nodes(translate.Records{
		Nodes: selection.Nodes(here.Nodes), Ports: here.Ports, Portgroups: here.Portgroups, Connectors: here.Connectors,
		Targets: here.Targets, Allocations: here.Allocations,
	}, options)
	if len(nodes) == 0 {
		return errors.New("no node of this conductor is selected")
	}
	x := &exporter{to: to, every: time.Second, report: report{source: to.URL(), verb: "exported to", dry: e.dry}}
	used := usedChassis(nodes)
	for _, c := range here.Chassis {
		if id, _ := c["uuid"].(string); used[id] {
			x.record(ctx, "chassis", "chassis", translate.Chassis(c))
		}
	}
	if len(e.selected) == 0 {
		for _, r := range here.DeployTemplates {
			x.record(ctx, "deploy template", "deploy_templates", translate.DeployTemplate(r))
		}
		for _, r := range here.Runbooks {
			r = translate.Runbook(r)
			delete(r, "traits")
			x.record(ctx, "runbook", "runbooks", r)
		}
	}
	for i := range nodes {
		x.node(ctx, &nodes[i])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return x.print(cmd, e.session)
}

// driversThere asks an Ironic for its hardware types and their interfaces.
func driversThere(ctx context.Context, to *ironic.Client) (translate.Drivers, error) {
	var answer struct {
		Drivers []map[string]json.RawMessage
	}
	if err := to.Get(ctx, "/v1/drivers?detail=True", &answer); err != nil {
		return nil, err
	}
	return driversOf(answer.Drivers)
}

// readHere reads all records of this conductor, in the microversion of the other side.
func readHere(ctx context.Context, s *client.Session, minor int) (*ironic.Everything, error) {
	s.Client.Minor.Store(min(s.Client.Minor.Load(), int64(minor)))
	e := &ironic.Everything{}
	for _, list := range e.Collections(minor) {
		q := url.Values{"limit": {"500"}}
		for key, values := range list.More {
			q[key] = values
		}
		raw, err := s.Client.PagesAt(ctx, "/v1/"+list.Path, path.Base(list.Path), q, 0)
		if err != nil {
			return nil, err
		}
		for _, text := range raw {
			var r ironic.Record
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&r); err != nil {
				return nil, fmt.Errorf("list of %s: %w", list.Path, err)
			}
			*list.Into = append(*list.Into, r)
		}
	}
	return e, nil
}
