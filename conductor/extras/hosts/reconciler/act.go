package reconciler

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// act carries out the decided action: by the own engine, or by the leader of the node's group.
func (r *Reconciler) act(ctx context.Context, k key, facts host.Facts, a host.Action) error {
	n := facts.Node
	created, ok := a.(host.CreateNode)
	if ok {
		n = &created.Node
	}
	var uuid string
	var err error
	r.withoutWorker(n.ConductorGroup, func() { uuid, err = r.actOn(ctx, *n, a) })
	if ok && err == nil {
		r.known.bind(uuid, k)
	}
	return err
}

// actOn acts on a node by the own engine, or by the leader of its group, and returns the result of Act.
func (r *Reconciler) actOn(ctx context.Context, n node.Node, a host.Action) (result string, err error) {
	if r.isOwn(n.ConductorGroup) {
		return Act(ctx, r.engine, n.UUID, a)
	}
	return r.Groups.Act(ctx, n.ConductorGroup, n, a)
}

// actionName is an action in a word, for the log.
func actionName(a host.Action) string {
	switch a := a.(type) {
	case host.Provision:
		return string(a.Request.Verb)
	case host.SetPower:
		return string(a.Target)
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", a), "host.")
	}
}

// saveHardware writes the result of an inspection to the HardwareData, which is deleted
// with its host.
func (r *Reconciler) saveHardware(ctx context.Context, o outcome) error {
	if o.decision.Hardware == nil {
		return nil
	}
	if err := r.upsertHardware(ctx, o.facts.Host, *o.decision.Hardware); err != nil {
		return fmt.Errorf("HardwareData: %w", err)
	}
	return nil
}

func (r *Reconciler) upsertHardware(ctx context.Context, h hostapi.Host, found hostapi.Hardware) error {
	is, err := objects.Get[hostapi.HardwareData](ctx, r.Documents, h.Namespace, h.Name)
	if errors.Is(err, objects.ErrNotFound) {
		yes := true
		_, err = objects.Create(ctx, r.Documents, hostapi.HardwareData{
			ObjectMeta: hostapi.ObjectMeta{
				Name: h.Name, Namespace: h.Namespace,
				OwnerReferences: []hostapi.OwnerReference{{
					APIVersion: hostapi.APIVersion, Kind: hostapi.KindHost, Name: h.Name, UID: h.UID, Controller: &yes,
					BlockOwnerDeletion: &yes,
				}},
			},
			Spec: hostapi.HardwareDataSpec{Hardware: &found},
		})
		return err
	}
	if err != nil || reflect.DeepEqual(is.Spec.Hardware, &found) {
		return err
	}
	is.Spec.Hardware = &found
	_, err = objects.Save(ctx, r.Documents, is)
	return err
}
