package api

import (
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// holdResource serves the hold of a conductor after its database was restored.
type holdResource struct{ holds Holds }

func (h *holdResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.HoldPath,
			Doc:    "whether this conductor was restored from a backup and acts on no machine yet, and its next actions",
			Handle: h.show, Wire: rest.Returns(rest.FormOf(nodeapi.Hold{}))},
		{Method: http.MethodPut, Path: nodeapi.HoldPath, Doc: "let a restored conductor go on, with all but some nodes",
			Handle: h.end, Wire: rest.Wire{Status: http.StatusNoContent, Takes: rest.FormOf(nodeapi.HoldEnd{})}},
	}
}

func (h *holdResource) show(c *rest.Call) error {
	hold := h.holds.Hold()
	answer := nodeapi.Hold{Held: hold.Held(), Nodes: []nodeapi.HeldNode{}}
	if !answer.Held {
		return c.Marshal(http.StatusOK, answer)
	}
	answer.Since, answer.Backup = moment(hold.Since), moment(hold.Backup)
	all, unread, err := h.holds.HoldReport(c.Request().Context())
	if err != nil {
		return err
	}
	answer.Unread = unread
	for _, n := range all {
		answer.Nodes = append(answer.Nodes, wireHeldNode(n))
	}
	return c.Marshal(http.StatusOK, answer)
}

func wireHeldNode(n engine.HeldNode) nodeapi.HeldNode {
	w := nodeapi.HeldNode{UUID: n.Node.UUID, Name: n.Node.Name, ProvisionState: string(n.Node.ProvisionState),
		PowerState: string(n.Node.PowerState), PowerNow: string(n.Reading.Power), PowerReadAt: moment(n.Reading.At),
		Effect: n.Effect, AtWork: n.Effect != "" || n.Node.Run != nil}
	for _, f := range n.Findings {
		w.Dangerous = w.Dangerous || f.Dangerous
		w.Findings = append(w.Findings, f.Text)
	}
	return w
}

func moment(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// abandoned is why a run ended that an operator did not want to go on.
const abandoned = "abandoned after the restore of a backup, in which the node was at work; nothing more was done to " +
	"the machine"

func (h *holdResource) end(c *rest.Call) error {
	body, err := c.Object("hold")
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(body), []string{"abandon", "held"}); err != nil {
		return err
	}
	held, err := rest.Args(body).NeedTruth("held")
	if err != nil {
		return err
	}
	if held {
		return rest.BadRequest("held is true: a hold begins with the restore of a backup, and can only be ended here.")
	}
	var refs []string
	list, _ := body["abandon"].([]any)
	for _, v := range list {
		ref, ok := v.(string)
		if !ok {
			return rest.BadRequest("abandon is %s: expected UUIDs or names of nodes.", rest.Python(body["abandon"]))
		}
		refs = append(refs, ref)
	}
	if body["abandon"] != nil && list == nil {
		return rest.BadRequest("abandon is %s: expected a list of UUIDs or names of nodes.", rest.Python(body["abandon"]))
	}
	if hold := h.holds.Hold(); !hold.Held() {
		return nodeapi.NewFault(http.StatusConflict,
			"This conductor holds nothing: it was not restored, or was resumed already.")
	}
	ctx := c.Request().Context()
	for _, ref := range refs { // before anything goes on
		if err := h.holds.Abandon(ctx, ref, abandoned); err != nil {
			return err
		}
	}
	if err := h.holds.Resume(ctx); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
