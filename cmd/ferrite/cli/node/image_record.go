package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// imageRequest is a verb with an image of its own. The API has the image in instance_info, not in the request, so
// that instance_info changes first. A machine must not keep the image of a refused verb: a later rebuild would write
// it.
type imageRequest struct {
	nodeapi.Provision
	verb string
	ops  []nodeapi.Patch
}

// send stores the image and sends the verb. A verb that the state of the node refuses changes nothing. After a refusal
// for another reason, instance_info is put back.
func (r imageRequest) send(ctx context.Context, s *client.Session, node string) error {
	var n struct {
		State       string         `json:"provision_state"`
		Reservation string         `json:"reservation"`
		Info        map[string]any `json:"instance_info"`
	}
	err := s.Client.Do(ctx, "GET", client.NodePath(node)+"?fields=provision_state,reservation,instance_info", nil, &n)
	if err != nil {
		return err
	}
	if slices.Contains(nodeapi.ProvisionStates(), n.State) && !allowed(r.verb, n.State) {
		if n.Reservation != "" { // the state may allow it soon
			return &nodeapi.Fault{Status: http.StatusConflict, Text: fmt.Sprintf("Node %s is locked by host %s", node,
				n.Reservation)}
		}
		return &nodeapi.Fault{Status: http.StatusBadRequest, Text: fmt.Sprintf("The requested action %q can not be "+
			"performed on node %q while it is in state %q.", r.verb, node, n.State)}
	}
	if err := wait.Do(ctx, s, "PATCH", client.NodePath(node), r.ops, nil); err != nil {
		return err
	}
	err = wait.Do(ctx, s, "PUT", client.NodePath(node, "states", "provision"), r.Provision, nil)
	var refusal *nodeapi.Fault
	if !errors.As(err, &refusal) || client.Passing(err) { // no answer: the conductor may have taken it
		return err
	}
	if left := r.restore(context.WithoutCancel(ctx), s, node, n.Info); left != nil {
		return &notRestored{err, left}
	}
	return err
}

// notRestored is the refusal of a verb, after which instance_info is not as it was.
type notRestored struct{ refusal, left error }

func (e *notRestored) Error() string { return e.refusal.Error() + "\n" + e.left.Error() }

func (e *notRestored) Unwrap() []error { return []error{e.refusal, e.left} }

// restore puts the former values of instance_info back. A secret, such as a signed URL, cannot be, as no answer shows
// it: its key is removed, since a wrong image is worse than none.
func (r imageRequest) restore(ctx context.Context, s *client.Session, node string, former map[string]any) error {
	var ops []nodeapi.Patch
	var lost []string
	for _, op := range r.ops {
		key := strings.TrimPrefix(op.Path, "/instance_info/")
		was, had := former[key]
		switch {
		case op.Op != "add": // "add" of the same key precedes it
		case had && !strings.Contains(fmt.Sprint(was), nodeapi.Masked):
			ops = append(ops, nodeapi.Patch{Op: "add", Path: op.Path, Value: was})
		default:
			if had {
				lost = append(lost, op.Path[1:])
			}
			// "add" before "remove": the request may have removed the key.
			ops = append(ops, nodeapi.Patch{Op: "add", Path: op.Path, Value: ""}, nodeapi.Patch{Op: "remove", Path: op.Path})
		}
	}
	if err := wait.Do(ctx, s, "PATCH", client.NodePath(node), ops, nil); err != nil {
		return fmt.Errorf("node %s: instance_info keeps the image of the refused command, as putting the former one back "+
			"failed: %w", node, err)
	}
	if len(lost) > 0 {
		return fmt.Errorf("node %s: the former %s held a secret that the conductor does not show, and is removed: set it "+
			"again", node, strings.Join(lost, ", "))
	}
	return nil
}
