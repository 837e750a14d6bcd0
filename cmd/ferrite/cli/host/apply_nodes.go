package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/exit"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// apart separates files with a line for each node from documents.
func apart(files []string) (tables, documents []string) {
	for _, file := range files {
		if strings.HasSuffix(strings.ToLower(file), ".csv") {
			tables = append(tables, file)
		} else {
			documents = append(documents, file)
		}
	}
	return tables, documents
}

// tableOfNodes is the rows of files, and the site that they are for.
type tableOfNodes struct {
	*client.Session
	rows  []*nodeRow
	nodes map[string]map[string]any // those that there are, by name
	ports map[string]string         // UUID of the node, by MAC
}

// applyNodes makes nodes of all rows, or changes them. All rows are checked first: a refused row keeps all others
// from being made.
func applyNodes(s *client.Session, cmd *cobra.Command, files []string, dry bool) error {
	t := tableOfNodes{Session: s}
	drivers, err := client.Records[struct{ Name string }](cmd.Context(), s, "drivers", nil)
	if err != nil {
		return err
	}
	keys := map[string][]string{} // of driver_info, by driver
	for _, d := range drivers {
		var known map[string]string
		path := nodeapi.Root + "/drivers/" + url.PathEscape(d.Name) + "/properties"
		if err := s.Client.Do(cmd.Context(), http.MethodGet, path, nil, &known); err != nil {
			return err
		}
		keys[d.Name] = output.Sorted(known)
	}
	var wrong []error
	for _, file := range files {
		_, text, err := readManifest(file, cmd.InOrStdin())
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		rows, faults := nodeRows(file, text, keys)
		t.rows, wrong = append(t.rows, rows...), append(wrong, faults...)
	}
	if errors.Join(wrong...) == nil {
		wrong = append(twice(t.rows), t.read(cmd.Context()))
	}
	if errors.Join(wrong...) == nil {
		wrong = t.taken()
	}
	if err := errors.Join(wrong...); err != nil {
		return exit.Usage(fmt.Errorf("%w\n  nothing was changed", err))
	}
	return t.apply(cmd, dry)
}

// read reads the nodes and ports that there are.
func (t *tableOfNodes) read(ctx context.Context) error {
	all, err := client.Records[map[string]any](ctx, t.Session, "nodes", url.Values{"detail": {"true"}})
	if err != nil {
		return err
	}
	ports, err := client.Records[struct {
		Address string
		Node    string `json:"node_uuid"`
	}](ctx, t.Session, "ports", url.Values{"fields": {"address,node_uuid"}})
	t.nodes, t.ports = map[string]map[string]any{}, map[string]string{}
	for _, n := range all {
		t.nodes[textOf(n["name"])] = n
	}
	for _, p := range ports {
		t.ports[p.Address] = p.Node
	}
	return err
}

// taken refuses MACs that another node has.
func (t *tableOfNodes) taken() (wrong []error) {
	for _, r := range t.rows {
		for _, mac := range r.macs {
			if of := t.ports[mac]; of != "" && of != t.nodes[r.name]["uuid"] {
				wrong = append(wrong, r.fault("mac", fmt.Errorf("%s is of node %s", mac, of)))
			}
		}
	}
	return wrong
}

// apply makes or changes the nodes, a few at a time, with a line for each, and their number. It returns all errors.
func (t *tableOfNodes) apply(cmd *cobra.Command, dry bool) error {
	var mu sync.Mutex
	var failed []error
	over := map[*nodeRow]string{}
	total, printed := map[string]int{}, 0
	wait.Some(t.rows, func(r *nodeRow) {
		result, err := t.one(cmd.Context(), r, dry)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			result = "failed"
			failed = append(failed, fmt.Errorf("%s (node %s): %w", r.place, r.name, err))
		case dry:
			result += " (dry run)"
		}
		over[r] = result
		total[result]++
		for ; printed < len(t.rows) && over[t.rows[printed]] != ""; printed++ { // in the order of the table
			if row := t.rows[printed]; over[row] != "failed" {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "node/%s %s\n", row.name, over[row])
				failed = append(failed, err)
			}
		}
	})
	if len(t.rows) > 1 {
		var counts []string
		for _, result := range output.Sorted(total) {
			counts = append(counts, fmt.Sprintf("%d %s", total[result], result))
		}
		fmt.Fprintln(cmd.ErrOrStderr(), strings.Join(counts, ", "))
	}
	return errors.Join(failed...)
}

// one makes or changes a node, and then its ports.
func (t *tableOfNodes) one(ctx context.Context, r *nodeRow, dry bool) (result string, err error) {
	node, known := t.nodes[r.name]
	uuid, ops := textOf(node["uuid"]), r.changes(node)
	var made nodeapi.Node
	switch result = "unchanged"; {
	case !known:
		if result = "created"; !dry {
			err = t.Client.Do(ctx, http.MethodPost, nodeapi.Root+"/nodes", r.body(), &made)
			uuid = made.UUID
		}
	case len(ops) > 0:
		if result = "configured"; !dry {
			err = wait.Do(ctx, t.Session, http.MethodPatch, client.NodePath(uuid), ops, nil)
		}
	}
	for _, mac := range r.macs {
		if err != nil || t.ports[mac] != "" {
			continue
		}
		if known {
			result = "configured"
		}
		if !dry {
			err = t.Client.Do(ctx, http.MethodPost, nodeapi.Root+"/ports", map[string]any{"node_uuid": uuid, "address": mac},
				nil)
		}
	}
	return result, err
}

// changes are the fields of a row that a node has otherwise. A password is always sent, since no answer shows it.
func (r *nodeRow) changes(node map[string]any) (ops []nodeapi.Patch) {
	for _, field := range output.Sorted(r.fields) {
		name, key, isKey := strings.Cut(field, ".")
		is, path := node[name], "/"+name
		if inside, ok := is.(map[string]any); ok && isKey {
			is, path = inside[key], path+"/"+output.Pointer(key)
		}
		if !reflect.DeepEqual(is, r.fields[field]) {
			ops = append(ops, nodeapi.Patch{Op: "add", Path: path, Value: r.fields[field]})
		}
	}
	return ops
}
