package reconciler

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/host"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Verbs are a conductor's acts on the nodes that it leads, as in the operators' API.
type Verbs interface {
	CreateNode(ctx context.Context, n node.Node) (node.Node, error)
	UpdateNode(ctx context.Context, ref string, edit func(*node.Node) error) (node.Node, error)
	CreatePort(ctx context.Context, p node.Port) (node.Port, error)
	Provision(ctx context.Context, ref string, r plan.Request) error
	SetPower(ctx context.Context, ref string, target node.PowerState, timeout time.Duration) error
	TryPower(ctx context.Context, ref string, target node.PowerState) error
	SetMaintenance(ctx context.Context, ref string, on bool, reason string) error
	SetTargetRAIDConfig(ctx context.Context, ref string, config map[string]any) error
	MediaSlots(ctx context.Context, ref string) ([]node.MediaSlot, error)
	AttachMedium(ctx context.Context, ref string, m node.Medium) error
	DetachMedia(ctx context.Context, ref string, devices []string) error
	CallVendor(ctx context.Context, ref, httpMethod, method string, args map[string]any) (result any, async bool,
		err error)
	DeleteNode(ctx context.Context, ref string) error
}

// Act does one thing to a node, or makes one, and returns its UUID, or the Id of a subscription.
func Act(ctx context.Context, v Verbs, uuid string, a host.Action) (string, error) {
	switch a := a.(type) {
	case host.CreateNode:
		n, err := v.CreateNode(ctx, a.Node)
		return n.UUID, err
	case host.UpdateNode:
		_, err := v.UpdateNode(ctx, uuid, a.Apply)
		return uuid, err
	case host.CreatePort:
		_, err := v.CreatePort(ctx, a.Port)
		return uuid, err
	case host.Provision:
		return uuid, v.Provision(ctx, uuid, a.Request)
	case host.SetPower:
		if a.Once {
			return uuid, v.TryPower(ctx, uuid, a.Target)
		}
		return uuid, v.SetPower(ctx, uuid, a.Target, a.Timeout)
	case host.SetMaintenance:
		return uuid, v.SetMaintenance(ctx, uuid, a.On, a.Reason)
	case host.SetRAID:
		return uuid, v.SetTargetRAIDConfig(ctx, uuid, a.Config)
	case host.AttachMedium:
		return uuid, v.AttachMedium(ctx, uuid, a.Medium)
	case host.DetachMedia:
		return uuid, v.DetachMedia(ctx, uuid, a.Devices)
	case host.Subscribe:
		return subscribe(ctx, v, uuid, a)
	case host.Unsubscribe:
		_, _, err := v.CallVendor(ctx, uuid, http.MethodDelete, "delete_subscription", map[string]any{"id": a.ID})
		return uuid, err
	case host.DeleteNode:
		return uuid, v.DeleteNode(ctx, uuid)
	default:
		return uuid, fmt.Errorf("reconciler: there is no code for %T", a)
	}
}
