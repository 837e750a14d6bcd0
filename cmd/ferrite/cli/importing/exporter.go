package importing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/ironic"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// exporter is one run: it makes records in an Ironic, by the API that operators have, and reports each record's
// outcome.
type exporter struct {
	to    *ironic.Client
	every time.Duration // between two polls of a node
	report
}

// route is how a node gets into its state without anything being done to its machine.
type route struct {
	verbs []string // each with the state it leads to
	note  string
}

// routes is THE table of states. Ironic makes no node available without cleaning it, unless cleaning is switched off.
var routes = map[string]route{
	"enroll":       {},
	"adopt failed": {note: "it is enroll there"},
	"manageable":   {verbs: []string{"manage manageable"}},
	"available": {verbs: []string{"manage manageable"}, note: "it is manageable there: to make it available, Ironic " +
		"cleans it: baremetal node provide"},
	"active": {verbs: []string{"manage manageable", "adopt active"}},
}

// record makes a chassis, a deploy template or a runbook.
func (x *exporter) record(ctx context.Context, kind, path string, r translate.Record) {
	uuid, _ := r["uuid"].(string)
	name, _ := r["name"].(string)
	l := line{Kind: kind, UUID: uuid, Name: name, Outcome: created}
	there, err := x.exists(ctx, path+"/"+uuid)
	switch {
	case err != nil:
		l.Outcome, l.Reason = refused, err.Error()
	case there:
		l.Outcome = unchanged
	case !x.dry:
		if err := x.to.Do(ctx, http.MethodPost, "/v1/"+path, r, nil); err != nil {
			l.Outcome, l.Reason = refused, err.Error()
		}
	}
	x.add(l)
}

func (x *exporter) exists(ctx context.Context, path string) (bool, error) {
	var out any
	err := x.to.Get(ctx, "/v1/"+path, &out)
	var fault *nodeapi.Fault
	if errors.As(err, &fault) && fault.Status == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

// node makes a node with all its records, and takes it to its state.
func (x *exporter) node(ctx context.Context, n *translate.Node) {
	l := line{Kind: "node", UUID: n.UUID, Name: n.Name, State: n.State}
	l.Outcome, l.Reason = x.give(ctx, n)
	l.Notes = n.Notes
	x.add(l)
}

func (x *exporter) give(ctx context.Context, n *translate.Node) (outcome, reason string) {
	if n.Skip != "" {
		return leftOut, n.Skip
	}
	there, err := x.exists(ctx, "nodes/"+n.UUID)
	switch {
	case err != nil:
		return refused, err.Error()
	case there:
		return unchanged, "it is there already, and is left as it is there"
	}
	n.DropConfigDrive()
	if masked := n.Masked(); len(masked) > 0 {
		return refused, "the conductor masks " + strings.Join(masked, ", ") + ": give --secrets"
	}
	via, known := routes[n.State]
	if !known {
		via = route{verbs: []string{"manage manageable"}, note: fmt.Sprintf("it is %s here, and manageable there", n.State)}
	}
	if via.note != "" {
		n.Notes = append(n.Notes, via.note)
	}
	if x.dry {
		return created, ""
	}
	if err := x.to.Do(ctx, http.MethodPost, "/v1/nodes", newNode(n.Import.Node), nil); err != nil {
		return refused, err.Error()
	}
	if err := x.addRecords(ctx, n, via); err != nil {
		return incomplete, "it is made there, and not yet as it is here: " + err.Error()
	}
	return created, ""
}

// afterwards are the fields that Ironic does not take with a new node.
var afterwards = []string{"provision_state", "target_provision_state", "power_state", "created_at", "updated_at",
	"provision_updated_at", "inspection_started_at", "inspection_finished_at", "last_error", "fault", "maintenance",
	"maintenance_reason", "raid_config", "target_raid_config", "traits", "boot_mode", "secure_boot", "protected",
	"protected_reason", "instance_uuid", "instance_name"}

func newNode(fields translate.Record) translate.Record {
	out := translate.Record{}
	for key, value := range fields {
		out[key] = value
	}
	for _, key := range afterwards {
		delete(out, key)
	}
	return out
}

// addRecords adds the records of the node that was made, and takes the node to its state.
func (x *exporter) addRecords(ctx context.Context, n *translate.Node, via route) error {
	node := "/v1/nodes/" + url.PathEscape(n.UUID)
	for _, list := range []struct {
		path    string
		records []map[string]any
	}{
		{"portgroups", n.Import.Portgroups}, {"ports", n.Import.Ports}, {"volume/connectors", n.Import.Connectors},
		{"volume/targets", n.Import.Targets},
	} {
		for _, r := range list.records {
			body := translate.Record{"node_uuid": n.UUID}
			for key, value := range r {
				if key != "internal_info" {
					body[key] = value
				}
			}
			if err := x.to.Do(ctx, http.MethodPost, "/v1/"+list.path, body, nil); err != nil {
				return err
			}
		}
	}
	f := n.Import.Node
	if traits, _ := f["traits"].([]any); len(traits) > 0 {
		if err := x.to.Do(ctx, http.MethodPut, node+"/traits", translate.Record{"traits": traits}, nil); err != nil {
			return err
		}
	}
	if err := x.patch(ctx, node, f, "instance_uuid", "instance_name"); err != nil {
		return err
	}
	for _, step := range via.verbs {
		verb, state, _ := strings.Cut(step, " ")
		if err := x.reach(ctx, node, verb, state); err != nil {
			return err
		}
	}
	if a := n.Import.Allocation; a != nil && n.State == "active" {
		body := translate.Record{"node": n.UUID}
		for _, key := range []string{"uuid", "name", "extra", "owner"} {
			if a[key] != nil {
				body[key] = a[key]
			}
		}
		if err := x.to.Do(ctx, http.MethodPost, "/v1/allocations", body, nil); err != nil {
			return err
		}
	}
	if err := x.patch(ctx, node, f, "protected", "protected_reason"); err != nil {
		return err
	}
	if f["maintenance"] == true {
		return x.to.Do(ctx, http.MethodPut, node+"/maintenance", translate.Record{"reason": f["maintenance_reason"]}, nil)
	}
	return nil
}

// patch sets the fields that have a value.
func (x *exporter) patch(ctx context.Context, node string, f translate.Record, names ...string) error {
	var ops []nodeapi.Patch
	for _, name := range names {
		if v := f[name]; v != nil && v != "" && v != false {
			ops = append(ops, nodeapi.Patch{Op: "add", Path: "/" + name, Value: v})
		}
	}
	if ops == nil {
		return nil
	}
	return x.to.Do(ctx, http.MethodPatch, node, ops, nil)
}

// maxPolls is how often a node is read before it counts as stuck.
const maxPolls = 120

// reach asks for a verb and waits for its state.
func (x *exporter) reach(ctx context.Context, node, verb, state string) error {
	if err := x.to.Do(ctx, http.MethodPut, node+"/states/provision", translate.Record{"target": verb}, nil); err != nil {
		return err
	}
	last := ""
	for range maxPolls {
		var n struct { // anew: a null leaves a field as it is
			State string `json:"provision_state"`
			To    string `json:"target_provision_state"`
			Error string `json:"last_error"`
		}
		if err := x.to.Get(ctx, node, &n); err != nil {
			return err
		}
		if n.State == state {
			return nil
		}
		last = n.State
		if n.Error != "" && (n.To == "" || strings.HasSuffix(n.State, "failed")) {
			return fmt.Errorf("%s: it is %s: %s", verb, n.State, n.Error)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(x.every):
		}
	}
	return fmt.Errorf("%s: it is %s still, expected %s: see why there with baremetal node show %s; then delete it there, "+
		"and export it again", verb, last, state, path.Base(node))
}
