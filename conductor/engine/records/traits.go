package records

import (
	"context"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// SetTraits replaces the traits of a node that is not reserved. Duplicate traits count once.
func (e *Records) SetTraits(ctx context.Context, ref string, traits []string) error {
	return e.editTraits(ctx, ref, func(*node.Node) ([]string, error) { return slices.Clone(traits), nil })
}

// AddTrait gives a node one more trait; nothing changes when it has it.
func (e *Records) AddTrait(ctx context.Context, ref, trait string) error {
	return e.editTraits(ctx, ref, func(n *node.Node) ([]string, error) { return append(n.Traits, trait), nil })
}

// RemoveTrait takes a trait from a node.
func (e *Records) RemoveTrait(ctx context.Context, ref, trait string) error {
	return e.editTraits(ctx, ref, func(n *node.Node) ([]string, error) {
		i := slices.Index(n.Traits, trait)
		if i < 0 {
			return nil, node.Refuse(node.NotFound, "Node %s doesn't have a trait '%s'", n.UUID, trait)
		}
		return slices.Delete(n.Traits, i, i+1), nil
	})
}

// editTraits keeps a node's traits sorted, each once, and not too many.
func (e *Records) editTraits(ctx context.Context, ref string, change func(*node.Node) ([]string, error)) error {
	_, err := e.Edit(ctx, ref, func(n *node.Node) error {
		traits, err := change(n)
		if err != nil {
			return err
		}
		slices.Sort(traits)
		traits = slices.Compact(traits)
		if len(traits) > node.MaxTraits {
			return node.Refuse(node.Invalid,
				"Could not modify traits for node %s as it would exceed the maximum number of traits per node (%d vs. %d)", n.UUID,
				len(traits), node.MaxTraits)
		}
		n.Traits = traits
		return nil
	})
	return err
}
