package noun

import (
	"fmt"
	"maps"
	"net/url"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/nodes"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Given is the values of the flags in use.
type Given struct {
	Plain   map[string]any
	Objects map[string]map[string]any // by field and key
	Removed []string                  // JSON pointers
	whole   map[string]any
	method  string
}

// Body is the values as the body of a request, with fields that have no flags. A new record needs no empty texts.
func (g Given) Body(body map[string]any) map[string]any {
	if g.whole != nil {
		return g.whole
	}
	maps.Copy(body, g.Plain)
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == "" })
	for field, object := range g.Objects {
		body[field] = object
	}
	return body
}

// Query is the values as arguments of a path. Empty texts are left out.
func (g Given) Query() url.Values {
	q := url.Values{}
	for field, value := range g.Plain {
		if text := fmt.Sprint(value); text != "" {
			q.Set(field, text)
		}
	}
	return q
}

// Patch is the values as changes to a record. None is an error.
func (g Given) Patch() (ops []nodeapi.Patch, err error) {
	for _, field := range output.Sorted(g.Plain) {
		ops = append(ops, nodeapi.Patch{Op: "add", Path: "/" + field, Value: g.Plain[field]})
	}
	for _, field := range output.Sorted(g.Objects) {
		for _, key := range output.Sorted(g.Objects[field]) {
			ops = append(ops,
				nodeapi.Patch{Op: "add", Path: "/" + field + "/" + output.Pointer(key), Value: g.Objects[field][key]})
		}
	}
	for _, path := range g.Removed {
		ops = append(ops, nodeapi.Patch{Op: "remove", Path: path})
	}
	if len(ops) == 0 {
		return nil, nodes.ErrNothing
	}
	return ops, nil
}
