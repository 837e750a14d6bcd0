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
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var allocations = noun.Noun{
	Use: "allocation", Short: "Allocations: reserve a machine by class and traits",
	Long: `An allocation reserves an available machine by its resource class and traits. The
machine's instance_uuid is then the UUID of the allocation. The reservation ends
when the machine is undeployed or the allocation is deleted.`,
	Arg: "ALLOCATION", Path: nodeapi.Root + "/allocations", Columns: noun.Named("resource_class", "state", "node_uuid"),
	Fields: []noun.Field{
		{Name: "resource_class", Only: "POST", Help: "resource class of the machine"},
		{Name: "name", Help: "name of the allocation; a machine of this name is preferred"},
		{Name: "node", Only: "POST", Help: "record an allocation for this machine, which is active already"},
		{Name: "owner", Only: "POST", Help: "only machines with this owner or lessee"},
		noun.UUID,
		{Name: "traits", Flag: "trait", Only: "POST", Kind: noun.Texts, Help: "trait that the machine must have; repeat it"},
		{Name: "candidate_nodes", Flag: "candidate-node", Only: "POST", Kind: noun.Texts,
			Help: "choose among these machines, in this order; repeat it"},
		noun.Extra,
	},
	Verbs: []noun.Verb{
		{Use: "list [--state STATE] [--resource-class CLASS]...", Short: "List allocations, all or filtered",
			Key: "allocations", Fields: noun.Paged(
				noun.Field{Name: "state", Help: "only allocations in this state: allocating, active or error"},
				noun.Field{Name: "resource_class", Help: "only allocations of this resource class"},
				noun.Field{Name: "node", Help: "only the allocation of this node"},
				noun.Field{Name: "owner", Help: "only allocations of this owner"})},
		noun.Show,
		{Use: "create {--resource-class CLASS [--trait TRAIT]... | --node NODE} [--wait]", Method: "POST",
			Short: "Request one of the available machines", Also: allocationWait,
			Example: `  ferrite allocation create --resource-class large --trait CUSTOM_GPU --name web --wait
  ferrite allocation create --node db-1      # for a machine that is active already`},
		noun.Set("Change the name or the extra of an allocation"), noun.Unset, noun.Delete,
	},
}

func allocationWait(s *client.Session, cmd *cobra.Command) noun.After {
	var waiting wait.Flag
	waiting.Add(cmd)
	cmd.MarkFlagsOneRequired("resource-class", "node")
	return func(cmd *cobra.Command, _ []string, reply json.RawMessage) (json.RawMessage, error) {
		if !waiting.On {
			return reply, nil
		}
		return allocated(cmd.Context(), s, reply, waiting.Limit)
	}
}

// allocated waits until an allocation has its machine, and returns it.
func allocated(ctx context.Context, s *client.Session, reply json.RawMessage,
	limit time.Duration) (json.RawMessage, error) {
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
		err := wait.Pause(ctx, poll)
		if err == nil {
			err = s.Client.Do(ctx, "GET", nodeapi.Root+"/allocations/"+url.PathEscape(a.UUID), nil, &reply)
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
