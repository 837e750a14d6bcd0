package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// How often children are asked whether they are done, and how long the parent waits for busy children.
const (
	childPoll     = 200 * time.Millisecond
	childPatience = 2 * time.Minute
)

// childrenStep has the child nodes do a step, all at a time, and waits for them. Each command has a token, so that
// repeating it after a crash has no effect.
func (j *job) childrenStep(ctx context.Context, s node.Step) (any, error) {
	children, err := j.children(ctx, s.Children)
	if err != nil {
		return nil, err
	}
	j.leave() // the children need slots to get done
	event := plan.ChildStep{Step: s, Token: fmt.Sprintf("%s/%d/%d", j.n.UUID, j.effect.Generation, j.n.Run.Index)}
	patience := j.Now().Add(childPatience)
	var failed []error
	var begun []string // if one cannot begin, the others do the step all the same
	for _, child := range children {
		if err := j.beginOnChild(ctx, child, event, patience); err != nil {
			failed = append(failed, fmt.Errorf("child node %s: %w", child, err))
			continue
		}
		begun = append(begun, child)
	}
	for _, child := range begun {
		if err := j.childDone(ctx, child, event.Token); err != nil {
			failed = append(failed, fmt.Errorf("child node %s: %w", child, err))
		}
	}
	return nil, errors.Join(failed...)
}

// children returns the nodes that a step is for: all children, or the named ones. A named node must be a child. All
// must have the owner of the parent: an owner can change after parent_node was set.
func (j *job) children(ctx context.Context, named []string) ([]string, error) {
	nodes, err := j.Store.Nodes(ctx, node.Query{Equal: map[string]string{"parent_node": j.n.UUID}})
	if err != nil {
		return nil, fmt.Errorf("children of node %s: %w", j.n.UUID, err)
	}
	if len(nodes) == 0 {
		return nil, node.Refuse(node.Invalid, "node %s has no child nodes: correct the parent_node of those that should be",
			j.n.UUID)
	}
	var all []string
	foreign := 0 // their UUIDs are not for the parent's owner to know
	strangers := slices.Clone(named)
	for _, n := range nodes {
		called := func(ref string) bool { return ref == n.UUID || ref == n.Name }
		if len(named) == 0 || slices.ContainsFunc(named, called) {
			all = append(all, n.UUID)
			if n.Owner != j.n.Owner {
				foreign++
			}
		}
		strangers = slices.DeleteFunc(strangers, called)
	}
	if len(strangers) > 0 {
		return nil, node.Refuse(node.Invalid,
			"%v are no child nodes of node %s: correct limit_child_node_execution, or the parent_node of the children",
			strangers, j.n.UUID)
	}
	if foreign > 0 {
		return nil, node.Refuse(node.Invalid, "%d child nodes have another owner than node %s: correct their owner or "+
			"parent_node, or name the others in limit_child_node_execution", foreign, j.n.UUID)
	}
	return all, nil
}

// beginOnChild lets a child begin the step, as soon as it is free.
func (j *job) beginOnChild(ctx context.Context, child string, e plan.ChildStep, end time.Time) error {
	for {
		_, err := j.Act(ctx, child, e)
		var refused *node.Refusal
		if err == nil || !errors.As(err, &refused) || refused.Kind != node.Locked || j.Now().After(end) {
			return err
		}
		if err := pauseFor(ctx, childPoll); err != nil {
			return err
		}
	}
}

// childDone waits until the child has done the step with that token. A child
// always comes to an end: its own steps have deadlines.
func (j *job) childDone(ctx context.Context, child, token string) error {
	for {
		n, err := j.Store.Node(ctx, child)
		if err != nil {
			return err
		}
		switch c := n.Child; {
		case c == nil || c.Token != token:
			return node.Refuse(node.Conflict, "it was given another step meanwhile")
		case c.Failure != "":
			return node.Refuse(node.Conflict, "%s", c.Failure)
		case c.Done:
			return nil
		}
		if err := pauseFor(ctx, childPoll); err != nil {
			return err
		}
	}
}

// pauseFor waits, or ends with ctx.
func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
