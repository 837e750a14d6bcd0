package reconciler

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/documents/objects"
	"github.com/ferrite-metal/ferrite/conductor/host"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// act has the engine do what was decided.
func (r *Reconciler) act(ctx context.Context, k key, facts host.Facts, a host.Action) error {
	if create, ok := a.(host.CreateNode); ok {
		n, err := r.engine.CreateNode(ctx, create.Node)
		if err == nil {
			r.known.bind(n.UUID, k)
		}
		return err
	}
	uuid := facts.Node.UUID
	switch a := a.(type) {
	case host.UpdateNode:
		_, err := r.engine.UpdateNode(ctx, uuid, a.Apply)
		return err
	case host.CreatePort:
		_, err := r.engine.CreatePort(ctx, a.Port)
		return err
	case host.Provision:
		return r.engine.Provision(ctx, uuid, a.Request)
	case host.SetPower:
		if a.Once {
			return r.engine.TryPower(ctx, uuid, a.Target)
		}
		return r.engine.SetPower(ctx, uuid, a.Target, a.Timeout)
	case host.SetMaintenance:
		return r.engine.SetMaintenance(ctx, uuid, a.On, a.Reason)
	case host.SetRAID:
		return r.engine.SetTargetRAIDConfig(ctx, uuid, a.Config)
	case host.AttachMedium:
		return r.engine.AttachMedium(ctx, uuid, a.Medium)
	case host.DetachMedia:
		return r.engine.DetachMedia(ctx, uuid, a.Devices)
	case host.DeleteNode:
		return r.engine.DeleteNode(ctx, uuid)
	default:
		return fmt.Errorf("reconciler: there is no code for %T", a)
	}
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
