package plan

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// CheckInstanceTraits refuses traits of an instance that its node lacks: traits choose the deploy templates, and so the
// steps.
func CheckInstanceTraits(n node.Node) error {
	wanted := n.InstanceInfo["traits"]
	list, ok := wanted.([]any)
	if !ok && !falsy(wanted) {
		return noTraitList(n)
	}
	var missing []string
	for _, t := range list {
		name, ok := t.(string)
		if !ok {
			return noTraitList(n)
		}
		if !slices.Contains(n.Traits, name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return node.Refuse(node.Invalid,
			"Cannot specify instance traits that are not also set on the node. Node %s is missing traits %s", n.UUID,
			strings.Join(missing, ", "))
	}
	return nil
}

// instanceTraits are the traits of an instance, which name its deploy templates.
func instanceTraits(n node.Node) (names []string) {
	list, _ := n.InstanceInfo["traits"].([]any)
	for _, t := range list {
		if name, ok := t.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// falsy reports whether Ironic takes a value for none, as Python does.
func falsy(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func noTraitList(n node.Node) error {
	return node.Refuse(node.Invalid,
		"Error parsing traits from Node %s instance_info field. A list of strings is expected.", n.UUID)
}

// traitsHeld is CheckInstanceTraits in the words of a request.
func traitsHeld(d *decision, _ Request) error {
	if err := CheckInstanceTraits(d.n); err != nil {
		return node.Refuse(node.Invalid, "Failed to validate deploy or power info for node %s: %v", d.n.UUID, err)
	}
	return nil
}
