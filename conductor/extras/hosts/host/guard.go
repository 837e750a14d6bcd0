package host

import (
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// guarded is a request that a host's node refuses, unless it is forced.
type guarded struct {
	verb node.Event
	does string                    // to the machine
	by   string                    // the same by way of the host; NAME and NAMESPACE stand for it
	only func(r plan.Request) bool // the requests that are refused; nil for all
}

const (
	byDeprovisioning = "remove spec.image from the host, or delete it: ferrite host delete NAME -n NAMESPACE"
	byImage          = "set spec.image of the host"
)

// guardedRequests are the requests to a host's node that are refused, since they destroy the state that its host
// documents. All others leave the disks alone: manage, inspect, adopt, abort, unhold, rescue, unrescue, and service
// without a step that erases.
var guardedRequests = []guarded{
	{node.Delete, "ends its workload and erases its disks", byDeprovisioning, nil},
	{node.Deploy, "writes an image over its disk", byImage, nil},
	{node.Rebuild, "writes an image over its disk", byImage, nil},
	{node.Provide, "erases its disks", byDeprovisioning, nil},
	{node.Clean, "can erase its disks", byDeprovisioning, nil},
	{node.Service, "erases its disks", byImage, erasingService},
	{plan.Forget, "deletes the node of its host", "delete the host: ferrite host delete NAME -n NAMESPACE; to leave the " +
		"machine alone, set the annotation " + hostapi.AnnotationDetached + " before", nil},
}

// erasingService reports whether a service has a step that erases, of a runbook too.
func erasingService(r plan.Request) bool {
	steps := slices.Clone(r.ServiceSteps)
	if r.Runbook != nil {
		for _, s := range r.Runbook.Steps {
			steps = append(steps, s.Step)
		}
	}
	for _, s := range steps {
		if nodeapi.Erases(nodeapi.Step{Interface: s.Interface, Step: s.Step}) {
			return true
		}
	}
	return false
}

// RefuseUnforced is the error for a request to the node of a host that must be forced; nil for other requests. A
// detached host guards nothing.
func RefuseUnforced(h hostapi.Host, n node.Node, r plan.Request) error {
	if h.Status.OperationalStatus == hostapi.StatusDetached {
		return nil
	}
	for _, g := range guardedRequests {
		if g.verb == r.Verb && (g.only == nil || g.only(r)) {
			return node.Refuse(node.Conflict, "Node %s belongs to BareMetalHost %s/%s (%s), which would not know that "+
				"this %s. To do it by the host: %s. To do it all the same, send the header %s: true (ferrite: --force).",
				nodeLabel(n), h.Namespace, h.Name, h.Status.Provisioning.State.Canonical(), g.does,
				strings.NewReplacer("NAMESPACE", h.Namespace, "NAME", h.Name).Replace(g.by),
				nodeapi.HeaderForce)
		}
	}
	return nil
}
