package api

import (
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// verb is one target of PUT states/provision.
type verb struct {
	event node.Event
	since int
}

// verbs is every target with the microversion it came with. Ironic checks
// "undeploy" under its inner name, so it is taken at any version.
func verbs() map[string]verb {
	return map[string]verb{
		"active":   {node.Deploy, 1},
		"deploy":   {node.Deploy, 73},
		"deleted":  {node.Delete, 1},
		"undeploy": {node.Delete, 1},
		"delete":   {node.Delete, 73},
		"rebuild":  {node.Rebuild, 1},
		"manage":   {node.Manage, 4},
		"provide":  {node.Provide, 4},
		"inspect":  {node.Inspect, 6},
		"abort":    {node.Abort, 13},
		"clean":    {node.Clean, 15},
		"adopt":    {node.Adopt, 17},
		"rescue":   {node.RescueIt, 38},
		"unrescue": {node.Unrescue, 38},
		"unhold":   {node.Unhold, 85},
		"service":  {node.Service, 87},
	}
}

// abortSince is from when on a state can be aborted.
func abortSince(s node.State) int {
	later := map[node.State]int{node.InspectWait: 41, node.DeployWait: 110}
	return max(13, later[s])
}

func (h *stateResource) provision(c *rest.Call) error {
	n, err := h.node(c)
	if err != nil {
		return err
	}
	target, args, err := c.Need(nodeapi.ProvisionLimit, "target", "configdrive", "clean_steps", "deploy_steps",
		"service_steps", "rescue_password", "disable_ramdisk", "runbook")
	if err != nil {
		return err
	}
	v, known := verbs()[target]
	if known && (v.since > c.Minor || v.event == node.Abort && abortSince(n.ProvisionState) > c.Minor) {
		return rest.NotAcceptable()
	}
	if !known || !node.Requestable(n.ProvisionState, v.event) {
		return h.wrongVerb(c, &n, spelt(args["target"]))
	}
	request, err := provisionRequest(c, v.event, args)
	if err != nil {
		return err
	}
	if err := h.runbook(c, args, &request); err != nil {
		return err
	}
	if err := h.permitSteps(c, &n, &request); err != nil {
		return err
	}
	if !c.Forced {
		if err := h.hosts.RefuseVerb(c.Request().Context(), n, request); err != nil {
			return err
		}
	}
	if err := h.conductor.Provision(c.Request().Context(), n.UUID, request); err != nil {
		return err
	}
	return c.Accepted("/v1/nodes/" + c.Param("node") + "/states")
}

// wrongVerb refuses a verb that the node's state does not allow. If a host has reserved the node, its state will
// change. Then the answer is that the node is locked, which clients retry.
func (h *stateResource) wrongVerb(c *rest.Call, n *node.Node, target string) error {
	holder, err := h.reserved(c, n)
	if err != nil {
		return err
	}
	if holder != "" {
		return node.LockedBy(n.UUID, holder)
	}
	return node.Refuse(node.InvalidState,
		`The requested action %q can not be performed on node %q while it is in state %q.`, target, n.UUID, n.ProvisionState)
}

// provisionRequest checks the arguments a verb came with.
func provisionRequest(c *rest.Call, v node.Event, a rest.Args) (plan.Request, error) {
	r := plan.Request{Verb: v, Project: c.Project()}
	checks := []func(*rest.Call, node.Event, rest.Args, *plan.Request) error{readConfigDrive, readSteps,
		readPassword, readRamdisk}
	for _, check := range checks {
		if err := check(c, v, a, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// readConfigDrive reads the config drive. An empty one is none, in every version and with every verb, as
// check_allow_configdrive of Ironic has it.
func readConfigDrive(c *rest.Call, v node.Event, a rest.Args, r *plan.Request) error {
	switch drive := a["configdrive"].(type) {
	case nil:
		return nil
	case string:
		if drive == "" {
			return nil
		}
	case map[string]any:
		if len(drive) == 0 {
			return nil
		}
		if c.Minor < 56 {
			return rest.BadRequest("Providing a JSON object for configdrive is only supported starting with API version 1.56")
		}
		known := []string{"meta_data", "network_data", "user_data"}
		if c.Minor >= 59 {
			known = append(known, "vendor_data")
		}
		for _, key := range rest.SortedKeys(drive) {
			if !rest.Contains(known, key) {
				return rest.BadRequest("Invalid configdrive: %s", rest.Additional(key))
			}
		}
	default:
		return rest.BadRequest("Expected types <class 'NoneType'>, <class 'dict'>, <class 'str'> for configdrive: %s",
			rest.Python(drive))
	}
	switch {
	case v != node.Deploy && v != node.Rebuild:
		return rest.BadRequest("Adding a config drive is only supported when setting provision state to active or rebuild")
	case v == node.Rebuild && c.Minor < 35:
		return rest.NotAcceptable()
	}
	r.ConfigDrive = a["configdrive"]
	return nil
}

func readPassword(c *rest.Call, v node.Event, a rest.Args, r *plan.Request) error {
	password, err := a.Text("rescue_password")
	switch {
	case err != nil:
		return err
	case v == node.RescueIt && strings.TrimSpace(password) == "":
		return rest.BadRequest(`A non-empty "rescue_password" is required when setting target provision state to rescue`)
	case v != node.RescueIt && a["rescue_password"] != nil:
		return rest.BadRequest(`"rescue_password" is only valid when setting target provision state to rescue`)
	}
	r.RescuePassword = password
	return nil
}

func readRamdisk(c *rest.Call, v node.Event, a rest.Args, r *plan.Request) (err error) {
	if a["disable_ramdisk"] == nil {
		return nil
	}
	since, ok := map[node.Event]int{node.Clean: 70, node.Service: 108}[v]
	if !ok {
		return rest.BadRequest(`"disable_ramdisk" is only valid when setting target provision state to clean or service`)
	}
	if c.Minor < since {
		return rest.NotAcceptable()
	}
	r.DisableRamdisk, err = a.Truth("disable_ramdisk")
	return err
}

// runbook finds the runbook with the steps to clean or service a node. Before runbooks had traits, the name was the
// trait.
func (h *stateResource) runbook(c *rest.Call, given rest.Args, r *plan.Request) error {
	list, ok := map[node.Event]string{node.Clean: "clean_steps", node.Service: "service_steps"}[r.Verb]
	switch {
	case given["runbook"] == nil:
		return nil
	case c.Minor < 92:
		return rest.NotAcceptable()
	case !ok:
		return rest.BadRequest(`"runbook" is only valid when setting target provision state to clean or service`)
	case given[list] != nil:
		return rest.BadRequest(`Please provide either "%s" or a runbook, but not both.`, list)
	}
	ref, err := given.Text("runbook")
	if err != nil {
		return err
	}
	book, err := h.conductor.Catalogs().Runbooks.Find(c.Request().Context(), ref)
	if err != nil {
		return err
	}
	use := h.Rules.Of("PUT", "/v1/nodes/:node/states/provision", "runbook")
	if c.Caller != nil && !book.Public && !use.Allows(c.Caller, book.Owner, "") {
		if !h.Rules.Of("GET", "/v1/runbooks/:ident", "").Allows(c.Caller, book.Owner, "") {
			return node.Refuse(node.NotFound, "Runbook %s could not be found.", ref) // as a missing one
		}
		return use.Denied()
	}
	if c.Minor < runbookTraits {
		book.Traits = []string{book.Name}
	}
	r.Runbook = &book
	return nil
}
