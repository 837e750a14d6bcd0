package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
)

const allocationHelp = `An allocation reserves an available machine by its resource class and traits. The
machine's instance_uuid is then the UUID of the allocation. The reservation ends
when the machine is undeployed or the allocation is deleted.`

// AllocationCommand is ferrite allocation.
func AllocationCommand(s *client.Session) *cobra.Command {
	r := record{
		s, "allocation", "ALLOCATION", "allocations", named("resource_class", "state", "node_uuid"),
	}
	return client.Group("allocation", "Allocations: reserve a machine by class and traits", allocationHelp,
		allocationList(r), r.show(), allocationCreate(r), r.delete())
}

func allocationList(r record) *cobra.Command {
	cmd := &cobra.Command{Use: "list [--state STATE] [--resource-class CLASS]...",
		Short: "List allocations, all or filtered", Args: cobra.NoArgs}
	filters := map[string]*string{
		"state":          cmd.Flags().String("state", "", "only allocations in this state: allocating, active or error"),
		"resource-class": cmd.Flags().String("resource-class", "", "only allocations of this resource class"),
		"node":           cmd.Flags().String("node", "", "only the allocation of this node"),
		"owner":          cmd.Flags().String("owner", "", "only allocations of this owner"),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q := url.Values{}
		for flag, value := range filters {
			if cmd.Flags().Changed(flag) {
				q.Set(output.FieldOf(flag), *value)
			}
		}
		return r.listed(cmd, q)
	}
	return cmd
}

func allocationCreate(r record) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create {--resource-class CLASS [--trait TRAIT]... | --node NODE} [--wait]",
		Short: "Request a machine from those that are available",
		Example: `  ferrite allocation create --resource-class large --trait CUSTOM_GPU --name web --wait
  ferrite allocation create --node db-1      # for a machine that is active already`,
		Args: cobra.NoArgs,
	}
	var waiting wait.Flag
	f := &recordFlags{texts: map[string]*string{}}
	flags := cmd.Flags()
	for flag, help := range map[string]string{
		"resource-class": "resource class of the machine",
		"name":           "name of the allocation; a machine of this name is preferred",
		"node":           "record an allocation for this machine, which is active already",
		"owner":          "only machines with this owner or lessee",
		"uuid":           "UUID, generated when left out",
	} {
		f.texts[flag] = flags.String(flag, "", help)
	}
	f.extra(cmd)
	traits := flags.StringArray("trait", nil, "trait that the machine must have; repeat it")
	candidates := flags.StringArray("candidate-node", nil, "choose among these machines, in this order; repeat it")
	cmd.MarkFlagsOneRequired("resource-class", "node")
	waiting.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		lists := map[string]any{}
		for field, list := range map[string][]string{"traits": *traits, "candidate_nodes": *candidates} {
			if len(list) > 0 {
				lists[field] = list
			}
		}
		reply, err := r.create(cmd, f, lists)
		if err != nil {
			return err
		}
		if waiting.On {
			if reply, err = r.allocated(cmd.Context(), reply, waiting.Limit); err != nil {
				return err
			}
		}
		return output.PrintAny(r.session, cmd.OutOrStdout(), reply, output.Fields(r.session, reply))
	}
	return cmd
}

// allocated waits until an allocation has its machine, and returns it.
func (r record) allocated(ctx context.Context, reply json.RawMessage, limit time.Duration) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for poll := wait.FirstPoll; ; poll = min(poll*3/2, wait.LastPoll) {
		var a struct {
			UUID      string `json:"uuid"`
			State     string `json:"state"`
			LastError string `json:"last_error"`
		}
		if err := json.Unmarshal(reply, &a); err != nil {
			return nil, fmt.Errorf("the conductor's answer: %w", err)
		}
		switch a.State {
		case "active":
			return reply, nil
		case "error":
			return nil, fmt.Errorf("%s\n  delete it with: ferrite allocation delete %s", a.LastError, a.UUID)
		}
		var err error
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(poll):
			err = r.session.Client.Do(ctx, "GET", r.path(a.UUID), nil, &reply)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("allocation %s still has no machine after %s\n  the conductor continues: ferrite "+
				"allocation show %s", a.UUID, limit, a.UUID)
		}
		if err != nil {
			return nil, err
		}
	}
}
