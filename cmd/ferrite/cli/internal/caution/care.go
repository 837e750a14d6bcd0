// Package caution keeps operators from mistakes that cost a machine: it asks at a terminal before data is lost (--yes),
// sends a request again that the conductor refuses by default (--force), and looks whether all nodes are there before
// the first is touched.
package caution

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
)

// Care is all that comes before a verb acts on the nodes that are its arguments.
type Care struct {
	// Question is the loss that the operator is asked about at a terminal, as a sentence; "" for none. nil: the
	// verb never loses data, and has no --yes.
	Question func(names []string) (string, error)
	// Force is the help text of --force; "" for a verb without.
	Force string
}

// OfHost is the help text of --force of verbs that the node of a host refuses.
const OfHost = "do it even if the machine belongs to a host (BareMetalHost), which then shows an error"

// OfMachine is the help text of --force of commands that name a BMC.
const OfMachine = "take a BMC and system that another node has already"

// Always is the question of a verb that always loses data. NAMES stands for the nodes.
func Always(question string) func([]string) (string, error) {
	return func(names []string) (string, error) { return Question(question, names), nil }
}

// Add adds the flags to a command, and has the care taken before it runs.
func (c Care) Add(s *client.Session, cmd *cobra.Command) {
	var force bool
	var yes Yes
	if c.Force != "" {
		cmd.Flags().BoolVar(&force, "force", false, c.Force)
	}
	if c.Question != nil {
		yes.Add(cmd)
	}
	cmd.PreRunE = func(cmd *cobra.Command, names []string) error {
		if force {
			cmd.SetContext(client.WithForce(cmd.Context()))
		}
		check := CheckNodes
		if c.Question != nil && yes.Asks(cmd) { // no question about a node that does not exist
			check = allThere
		}
		if err := check(cmd.Context(), s, names); err != nil || c.Question == nil {
			return err
		}
		question, err := c.Question(names)
		if err != nil || question == "" {
			return err
		}
		return yes.Ask(cmd, question)
	}
}

// atATime is how many nodes are looked for at a time.
const atATime = 4

// CheckNodes checks that all nodes exist, before it touches the first. A single node needs no check: its request fails
// anyway. The error names all nodes that are missing.
func CheckNodes(ctx context.Context, s *client.Session, names []string) error {
	if len(names) < 2 {
		return nil
	}
	return allThere(ctx, s, names)
}

// allThere is CheckNodes, of one node as well.
func allThere(ctx context.Context, s *client.Session, names []string) error {
	var mu sync.Mutex
	missing := map[string]error{}
	var running errgroup.Group
	running.SetLimit(atATime)
	for _, name := range names {
		running.Go(func() error {
			err := s.Client.Do(ctx, "GET", client.NodePath(name)+"?fields=uuid", nil, nil)
			if !client.NotFound(err) { // any other error the request itself meets, or has passed by then
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			missing[name] = err
			return nil
		})
	}
	_ = running.Wait() // none returns an error
	var all []error
	for _, name := range names {
		if err := missing[name]; err != nil {
			all = append(all, err)
			delete(missing, name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if len(names) == 1 {
		return all[0]
	}
	return fmt.Errorf("%w\n  nothing was requested of the %d nodes", errors.Join(all...), len(names))
}
