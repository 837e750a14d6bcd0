// Package yamljson makes JSON of YAML from outside: bodies of requests, and texts in secrets. It refuses YAML with
// aliases that repeat a large part many times, before that fills the memory.
package yamljson

import (
	"errors"
	"fmt"

	node "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// maxDepth bounds how deep a document is nested, as encoding/json does.
const maxDepth = 10000

// From makes JSON of a document. With every alias written out, its text may have at most most bytes. Aliases that
// contain themselves are refused, too.
func From(text []byte, most int) ([]byte, error) {
	var top node.Node
	if err := node.Unmarshal(text, &top); err != nil {
		return nil, err
	}
	if _, err := spent(&top, most, 0); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(text)
}

// spent subtracts the size of a part, written out, from a number of bytes.
func spent(n *node.Node, left, depth int) (int, error) {
	if left -= len(n.Value) + 1; left < 0 {
		return 0, errors.New("its aliases make it too long: write it without them")
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	if n.Kind == node.AliasNode {
		return spent(n.Alias, left, depth+1)
	}
	for _, part := range n.Content {
		var err error
		if left, err = spent(part, left, depth+1); err != nil {
			return 0, err
		}
	}
	return left, nil
}
