package importing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/ironic"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
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

// toIronic is one export.
type toIronic struct {
	fromIronic
}

func exportIronicCommand(s *client.Session) *cobra.Command {
	e := &toIronic{fromIronic{session: s}}
	cmd := &cobra.Command{
		Use: "ironic URL", Short: "Give nodes back to an Ironic", Long: exportHelp, Args: cobra.ExactArgs(1),
		Example: `  ferrite export ironic http://ironic:6385 --secrets secrets.yaml --dry-run
  ferrite export ironic http://ironic:6385 --secrets secrets.yaml --select owner=blue`,
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&e.dry, "dry-run", false, "only show what would be made")
	f.StringArrayVar(&e.selected, "select", nil,
		"only these nodes: a `NODE` or FIELD=PATTERN; repeat it: one of each field's must match")
	f.StringArrayVar(&e.replaced, "replace", nil, "put a name in the place of another, as `FIELD:OLD=NEW`: of a driver, an "+
		"interface, a conductor_group, an owner or a lessee; repeat it")
	f.StringVar(&e.secrets, "secrets", "", "read passwords from a `FILE`: .yaml, .json, .csv, or .tsv of MySQL's client")
	e.addAccess(f)
	client.Must(cmd.MarkFlagFilename("secrets", secretFiles...))
	return cmd
}

func (e *toIronic) run(cmd *cobra.Command, where string) error {
	ctx := cmd.Context()
	selection, err := translate.ParseSelection(e.selected)
	if err != nil {
		return exit.Usage(err)
	}
	options := translate.Options{KeepRamdisks: true}
	if options.Replace, err = translate.ParseReplacements(e.replaced); err != nil {
		return exit.Usage(err)
	}
	if options.Secrets, err = e.readSecrets(ctx, cmd.InOrStdin()); err != nil {
		return err
	}
	to, err := e.open(cmd, where)
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
	g := &giving{to: to, dry: e.dry, every: time.Second}
	used := usedChassis(nodes)
	for _, c := range here.Chassis {
		if id, _ := c["uuid"].(string); used[id] {
			g.record(ctx, "chassis", "chassis", translate.Chassis(c))
		}
	}
	if len(e.selected) == 0 {
		for _, r := range here.DeployTemplates {
			g.record(ctx, "deploy template", "deploy_templates", translate.DeployTemplate(r))
		}
		for _, r := range here.Runbooks {
			r = translate.Runbook(r)
			delete(r, "traits")
			g.record(ctx, "runbook", "runbooks", r)
		}
	}
	for i := range nodes {
		g.node(ctx, &nodes[i])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t := &taking{session: e.session, source: to.URL(), dry: e.dry, lines: g.lines, verb: "exported to"}
	return t.report(cmd)
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

// open logs in to an Ironic.
func (i *fromIronic) open(cmd *cobra.Command, where string) (*ironic.Client, error) {
	if err := i.conf.Login.Read(cmd.InOrStdin(), os.Getenv); err != nil {
		return nil, exit.Usage(err)
	}
	i.conf.URL, i.conf.Timeout, i.conf.Agent = where, i.session.Timeout, "ferrite/"+i.session.Release
	return ironic.Open(cmd.Context(), i.conf)
}
