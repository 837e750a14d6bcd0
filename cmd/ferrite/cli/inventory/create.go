package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const createHelp = `Create chassis, nodes, portgroups and ports from files of YAML or JSON, in the format of
OpenStack's command "baremetal create":

  nodes:
  - name: web-1
    driver: redfish
    driver_info: {redfish_address: https://10.0.0.9, redfish_username: admin, redfish_password: ...}
    traits: [CUSTOM_GPU]
    ports:
    - address: 52:54:00:12:34:56
    portgroups:
    - name: bond0
      ports:
      - address: 52:54:00:12:34:57
  chassis:
  - description: rack 7
    nodes: [...]

Fields have the names that the API gives them. - is standard input.

All files are read and checked first: nothing is created if one of them is wrong. A record that
the conductor refuses keeps only the records inside it from being created. The others are
created, and stay.

Records that exist are not changed: see ferrite node set. For machines that the conductor keeps
as a file describes them, see ferrite host apply.`

// createCommand is ferrite create.
func createCommand(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use: "create FILE...", Short: "Create nodes with their ports and chassis from files", Long: createHelp,
		Example: "  ferrite create rack-7.yaml rack-8.yaml",
		RunE: func(cmd *cobra.Command, files []string) error {
			records, err := readRecords(files, cmd.InOrStdin())
			if err != nil {
				return exit.Usage(fmt.Errorf("%w\n  nothing was created", err))
			}
			c := creation{Session: s, cmd: cmd}
			for _, r := range records {
				c.create(r, nil)
			}
			return c.end()
		},
	}
}

// creation is the records of files on their way to the conductor.
type creation struct {
	*client.Session
	cmd     *cobra.Command
	created []json.RawMessage
	failed  []error
	left    int // records inside failed ones
}

// create makes a record and those inside it. given are the fields that hold the UUIDs of the records it is inside.
func (c *creation) create(r *record, given map[string]any) {
	for field, uuid := range given {
		r.body[field] = uuid
	}
	var reply json.RawMessage
	var made struct{ UUID, Name string }
	err := c.Client.Do(c.cmd.Context(), http.MethodPost, nodeapi.Root+"/"+r.kind.list, r.body, &reply)
	if err == nil {
		err = json.Unmarshal(reply, &made)
	}
	if err != nil {
		c.failed = append(c.failed, fmt.Errorf("%s: %s is not created: %w", r.place, r.label(), err))
		c.left += r.inside()
		return
	}
	c.created = append(c.created, reply)
	if c.People() {
		_ = output.Say(c.Session, c.cmd, "created %s (%s)\n", r.label(), made.UUID) // an error of the terminal
	}
	if err := c.giveTraits(c.cmd.Context(), r, made.UUID); err != nil {
		c.failed = append(c.failed, err)
	}
	for _, below := range r.below {
		c.create(below, r.kind.giving(given, made.UUID))
	}
}

// giveTraits gives a new node its traits, which the API does by another request.
func (c *creation) giveTraits(ctx context.Context, r *record, uuid string) error {
	if r.traits == nil {
		return nil
	}
	path := nodeapi.Root + "/" + r.kind.list + "/" + url.PathEscape(uuid) + "/traits"
	if err := c.Client.Do(ctx, http.MethodPut, path, map[string]any{"traits": r.traits}, nil); err != nil {
		return fmt.Errorf("%s: %s is created, but has no traits: %w", r.place, r.label(), err)
	}
	return nil
}

// end prints the created records for programs, and returns all errors with the numbers of records.
func (c *creation) end() error {
	var err error
	if !c.People() {
		if c.created == nil {
			c.created = []json.RawMessage{}
		}
		err = output.PrintAny(c.Session, c.cmd.OutOrStdout(), c.created, nil)
	}
	if len(c.failed) == 0 {
		return err
	}
	return errors.Join(append(c.failed, fmt.Errorf("%d created, %d failed, %d not tried", len(c.created),
		len(c.failed), c.left), err)...)
}
