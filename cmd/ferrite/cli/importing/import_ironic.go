// Package importing is `ferrite import ironic` and `ferrite export`: nodes of an Ironic taken over, and nodes given
// back. It does nothing to a machine.
package importing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/database"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/secret"
)

const ironicHelp = `Take over nodes of an Ironic: with their interfaces, ports, portgroups, volumes, traits, allocations, owners,
maintenance and reasons, UUIDs, states and instances; and chassis, deploy templates and runbooks. Everything
is read before anything is written. Each node is written whole, or not at all.

Ironic's API masks passwords. They come from its database ($IRONIC_DATABASE, or --ironic-database
where its URL has no password), of which two tables are read, or from a file (--secrets).

A node that Ironic is deploying, cleaning or inspecting is left out; import it again when that has ended.
Drivers and interfaces that are not here are replaced by others that do the same, and the report says so.`

// ironicImport is one import of an Ironic.
type ironicImport struct {
	peer
	overwrite bool
	keep      bool
	database  database.Config
	// databasePassword is the file of a password.
	databasePassword string
}

// IronicCommand is ferrite import ironic.
func IronicCommand(s *client.Session) *cobra.Command {
	i := &ironicImport{peer: peer{session: s}}
	cmd := &cobra.Command{
		Use: "ironic URL", Short: "Take over the nodes of an Ironic", Long: ironicHelp, Args: cobra.ExactArgs(1),
		Example: `  ferrite import ironic http://ironic:6385 --dry-run
  ferrite import ironic http://ironic:6385 --ironic-database mysql://ironic@db/ironic --ironic-database-password-file pw
  ferrite import ironic http://ironic:6385 --select owner=blue --select 'name=rack-7-*' --secrets bmc.csv`,
		RunE: func(cmd *cobra.Command, args []string) error { return i.run(cmd, args[0]) },
	}
	i.flags(cmd, "only show the nodes to be taken over or changed")
	f := cmd.Flags()
	f.BoolVar(&i.overwrite, "overwrite", false, "take over also values that were changed here since the last import")
	f.BoolVar(&i.keep, "keep-ramdisks", false, "keep the kernels and ramdisks that driver_info names")
	f.StringVar(&i.database.URL, "ironic-database", os.Getenv("IRONIC_DATABASE"),
		"read passwords from Ironic's database, a `URL` (mysql, postgresql, sqlite) as ironic.conf has it, or a file of "+
			"SQLite; a URL with a password belongs into $IRONIC_DATABASE, since everybody on this host sees command lines")
	f.Lookup("ironic-database").DefValue = ""
	f.StringVar(&i.databasePassword, "ironic-database-password-file", "", "`file` whose first line is the password of "+
		"Ironic's database; $IRONIC_DATABASE_PASSWORD is the password itself")
	client.Must(cmd.MarkFlagFilename("ironic-database"))
	return cmd
}

func (i *ironicImport) run(cmd *cobra.Command, url string) error {
	ctx := cmd.Context()
	selection, options, err := i.options()
	if err != nil {
		return err
	}
	options.KeepRamdisks = i.keep
	if err := i.readDatabase(ctx, cmd.InOrStdin(), options.Secrets); err != nil {
		return fmt.Errorf("--ironic-database: %w", err)
	}
	if err := i.readSecrets(options.Secrets); err != nil {
		return err
	}
	if options.Drivers, err = drivers(ctx, i.session); err != nil {
		return err
	}
	from, err := i.open(cmd, url)
	if err != nil {
		return err
	}
	all, err := from.ReadAll(ctx)
	if err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	options.Source = from.URL()
	nodes := translate.Nodes(translate.Records{
		Nodes: selection.Nodes(all.Nodes), Ports: all.Ports, Portgroups: all.Portgroups, Connectors: all.Connectors,
		Targets: all.Targets, Allocations: all.Allocations,
	}, options)
	if len(nodes) == 0 && len(i.selected) > 0 {
		return fmt.Errorf("no node of %s is selected", from.URL())
	}
	for n := range nodes {
		if nodes[n].Skip != "" {
			continue
		}
		if nodes[n].Import.Inventory, err = from.Inventory(ctx, nodes[n].UUID); err != nil {
			return fmt.Errorf("nothing was imported: %w", err)
		}
	}
	t := &importer{session: i.session, overwrite: i.overwrite,
		report: report{source: from.URL(), verb: "imported from", dry: i.dry}}
	used := usedChassis(nodes)
	for _, c := range all.Chassis {
		if id, _ := c["uuid"].(string); len(i.selected) == 0 || used[id] {
			t.record(ctx, "chassis", translate.Chassis(c))
		}
	}
	if len(i.selected) == 0 {
		for _, r := range all.DeployTemplates {
			t.record(ctx, "deploy_template", translate.DeployTemplate(r))
		}
		for _, r := range all.Runbooks {
			t.record(ctx, "runbook", translate.Runbook(r))
		}
	}
	for n := range nodes {
		t.node(ctx, &nodes[n])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.print(cmd, i.session)
}

// usedChassis returns the chassis of the nodes.
func usedChassis(nodes []translate.Node) map[string]bool {
	used := map[string]bool{}
	for _, n := range nodes {
		if id, ok := n.Import.Node["chassis_uuid"].(string); ok {
			used[id] = true
		}
	}
	return used
}

// readDatabase reads the secrets in Ironic's database, if there is a URL of it.
func (i *ironicImport) readDatabase(ctx context.Context, stdin io.Reader, into translate.Secrets) (err error) {
	if i.database.URL == "" {
		return nil
	}
	i.database.Timeout, i.database.Password = i.session.Timeout, os.Getenv("IRONIC_DATABASE_PASSWORD")
	if i.databasePassword != "" {
		const flag = "--ironic-database-password-file"
		if i.database.Password, err = secret.FirstLine(stdin, flag, i.databasePassword); err != nil {
			return err
		}
	}
	return database.Read(ctx, i.database, into)
}

// drivers asks the conductor for its hardware types and their interfaces.
func drivers(ctx context.Context, s *client.Session) (translate.Drivers, error) {
	var answer struct {
		Drivers []map[string]json.RawMessage
	}
	if err := s.Client.Do(ctx, http.MethodGet, "/v1/drivers?detail=True", nil, &answer); err != nil {
		return nil, err
	}
	return driversOf(answer.Drivers)
}

func driversOf(answer []map[string]json.RawMessage) (translate.Drivers, error) {
	all := translate.Drivers{}
	for _, d := range answer {
		var name string
		if json.Unmarshal(d["name"], &name) != nil {
			return nil, errors.New("the list of drivers has one without a name")
		}
		all[name] = translate.Interfaces(d)
	}
	return all, nil
}
