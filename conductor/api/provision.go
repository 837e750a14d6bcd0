package api

import (
	"strings"

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

func (a *API) provision(c *call) error {
	n, err := a.node(c)
	if err != nil {
		return err
	}
	args, err := c.args(nodeapi.ProvisionLimit, "target", "configdrive", "clean_steps", "deploy_steps", "service_steps", "rescue_password", "disable_ramdisk", "runbook")
	if err != nil {
		return err
	}
	target, err := args.need("target")
	if err != nil {
		return err
	}
	v, known := verbs()[target]
	if known && (v.since > c.minor || v.event == node.Abort && abortSince(n.ProvisionState) > c.minor) {
		return notAcceptable()
	}
	if !known || !node.Requestable(n.ProvisionState, v.event) {
		return a.wrongVerb(c, &n, spelt(args["target"]))
	}
	request, err := provisionRequest(c, v.event, args)
	if err != nil {
		return err
	}
	if err := a.runbook(c, args, &request); err != nil {
		return err
	}
	if err := a.conductor.Provision(c.Request().Context(), n.UUID, request); err != nil {
		return err
	}
	return c.accepted("/v1/nodes/" + c.Param("node") + "/states")
}

// wrongVerb refuses a verb the node's state does not allow: while somebody
// works on the node the state will change, so the client is told to retry.
func (a *API) wrongVerb(c *call, n *node.Node, target string) error {
	holder, err := a.reserved(c, n)
	if err != nil {
		return err
	}
	if holder != "" {
		return node.Refuse(node.Locked, "Node %s is locked by host %s, please retry after the current operation is completed.", n.UUID, holder)
	}
	return node.Refuse(node.InvalidState, `The requested action %q can not be performed on node %q while it is in state %q.`, target, n.UUID, n.ProvisionState)
}

// provisionRequest checks the arguments a verb came with.
func provisionRequest(c *call, v node.Event, a args) (plan.Request, error) {
	r := plan.Request{Verb: v}
	checks := []func(*call, node.Event, args, *plan.Request) error{readConfigDrive, readSteps, readPassword, readRamdisk}
	for _, check := range checks {
		if err := check(c, v, a, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

func readConfigDrive(c *call, v node.Event, a args, r *plan.Request) error {
	switch drive := a["configdrive"].(type) {
	case nil:
		return nil
	case string:
	case map[string]any:
		if c.minor < 56 {
			return badRequest("Providing a JSON object for configdrive is only supported starting with API version 1.56")
		}
		known := []string{"meta_data", "network_data", "user_data"}
		if c.minor >= 59 {
			known = append(known, "vendor_data")
		}
		for _, key := range sortedKeys(drive) {
			if !contains(known, key) {
				return badRequest("Invalid configdrive: %s", additional(key))
			}
		}
	default:
		return badRequest("Expected types <class 'NoneType'>, <class 'dict'>, <class 'str'> for configdrive: %s", python(drive))
	}
	switch {
	case v != node.Deploy && v != node.Rebuild:
		return badRequest("Adding a config drive is only supported when setting provision state to active or rebuild")
	case v == node.Rebuild && c.minor < 35:
		return notAcceptable()
	}
	r.ConfigDrive = a["configdrive"]
	return nil
}

func readPassword(c *call, v node.Event, a args, r *plan.Request) error {
	password, err := a.text("rescue_password")
	switch {
	case err != nil:
		return err
	case v == node.RescueIt && strings.TrimSpace(password) == "":
		return badRequest(`A non-empty "rescue_password" is required when setting target provision state to rescue`)
	case v != node.RescueIt && a["rescue_password"] != nil:
		return badRequest(`"rescue_password" is only valid when setting target provision state to rescue`)
	}
	r.RescuePassword = password
	return nil
}

func readRamdisk(c *call, v node.Event, a args, r *plan.Request) (err error) {
	if a["disable_ramdisk"] == nil {
		return nil
	}
	since, ok := map[node.Event]int{node.Clean: 70, node.Service: 108}[v]
	if !ok {
		return badRequest(`"disable_ramdisk" is only valid when setting target provision state to clean or service`)
	}
	if c.minor < since {
		return notAcceptable()
	}
	r.DisableRamdisk, err = a.truth("disable_ramdisk")
	return err
}

// runbook finds the runbook whose steps a node is to be cleaned or serviced
// with. Until runbooks had traits, the name was the trait.
func (a *API) runbook(c *call, given args, r *plan.Request) error {
	list, ok := map[node.Event]string{node.Clean: "clean_steps", node.Service: "service_steps"}[r.Verb]
	switch {
	case given["runbook"] == nil:
		return nil
	case c.minor < 92:
		return notAcceptable()
	case !ok:
		return badRequest(`"runbook" is only valid when setting target provision state to clean or service`)
	case given[list] != nil:
		return badRequest(`Please provide either "%s" or a runbook, but not both.`, list)
	}
	ref, err := given.text("runbook")
	if err != nil {
		return err
	}
	book, err := a.conductor.Catalogs().Runbooks.Find(c.Request().Context(), ref)
	if err != nil {
		return err
	}
	use := a.rules.Of("PUT", "/v1/nodes/:node/states/provision", "runbook")
	if c.caller != nil && !book.Public && !use.Allows(c.caller, book.Owner, "") {
		return use.Denied()
	}
	if c.minor < runbookTraits {
		book.Traits = []string{book.Name}
	}
	r.Runbook = &book
	return nil
}
