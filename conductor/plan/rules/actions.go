package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// action is one kind of action.
type action struct {
	signature
	take func(r *evaluation, a args) error
}

// actions is all of them, by Ironic's names.
var actions = map[string]action{
	"fail": {
		signature{required: []string{"msg"}, filled: []string{"msg"}}, func(_ *evaluation, a args) error {
			return errors.New(safe(a["msg"]))
		},
	},
	"log": {signature{required: []string{"msg"}, optional: []string{"level"}, filled: []string{"msg"}}, log},

	"set-attribute":    {toPath("path", "value"), onNode(set)},
	"extend-attribute": {unique(toPath("path", "value")), onNode(extend)},
	"del-attribute":    {toPath("path"), onNode(del)},

	"set-capability":   {toPath("name", "value"), setCapability},
	"unset-capability": {toPath("name"), unsetCapability},
	"add-trait":        {toPath("name"), addTrait},
	"remove-trait":     {toPath("name"), removeTrait},

	"set-plugin-data":    {toPath("path", "value"), onData(set)},
	"extend-plugin-data": {unique(toPath("path", "value")), onData(extend)},
	"unset-plugin-data":  {toPath("path"), onData(del)},

	"set-port-attribute":    {toPath("port_id", "path", "value"), onPort(set)},
	"extend-port-attribute": {unique(toPath("port_id", "path", "value")), onPort(extend)},
	"del-port-attribute":    {toPath("port_id", "path"), onPort(del)},

	"api-call": {
		signature{required: []string{"url"}, optional: []string{"headers", "proxies", "timeout", "retries", "backoff_factor"},
			filled: []string{"url"}}, callAPI,
	},
}

// toPath is the signature of actions that write to a path. Fields in the value are filled in; fields in the path are
// not.
func toPath(required ...string) signature {
	return signature{required: required, filled: []string{"value"}}
}

func unique(s signature) signature {
	s.optional = []string{"unique"}
	return s
}

// check refuses an action that could never be taken.
func (o action) check(c *node.Clause) error {
	a, err := o.named(c)
	if err != nil {
		return err
	}
	if a["proxies"] != nil {
		return fmt.Errorf("Invalid parameters for %s: proxies are not supported", c.Op) //nolint:staticcheck // Ironic's words
	}
	return nil
}

// action takes one.
func (r *evaluation) action(c *node.Clause) error {
	act, ok := actions[c.Op]
	if !ok {
		return fmt.Errorf("there is no such action")
	}
	return r.each(act.signature, c, func(a args) (bool, error) { return false, act.take(r, a) })
}

// log writes for an operator. The history knows three severities.
func log(r *evaluation, a args) error {
	level, severity := "info", ""
	if a["level"] != nil {
		var err error
		if level, err = a.text("level"); err != nil {
			return err
		}
	}
	switch strings.ToLower(level) {
	case "debug", "info":
		severity = "INFO"
	case "warning":
		severity = "WARNING"
	case "error", "critical":
		severity = "ERROR"
	default:
		return fmt.Errorf("there is no level %q: debug, info, warning, error and critical are known", safe(level))
	}
	r.logLine(severity, safe(a["msg"]))
	return nil
}

// onNode does a verb to an attribute of the node.
func onNode(do pathOperation) func(*evaluation, args) error {
	return func(r *evaluation, a args) error {
		path, err := pathOf(a)
		if err != nil {
			return err
		}
		r.touch(path[0])
		return change(r, &r.out.Node, nodeAttributes, "node", path, do, a)
	}
}

// onPort applies an operation to an attribute of a port. The port is named by its UUID or its address: a port that this
// inspection has found has no UUID yet.
func onPort(do pathOperation) func(*evaluation, args) error {
	return func(r *evaluation, a args) error {
		id, err := a.text("port_id")
		if err != nil {
			return err
		}
		i := slices.IndexFunc(r.out.Ports, func(p node.Port) bool {
			return strings.EqualFold(p.Address, id) || p.UUID != "" && strings.EqualFold(p.UUID, id)
		})
		if i < 0 {
			return fmt.Errorf("the node has no port %q", safe(id))
		}
		path, err := pathOf(a)
		if err != nil {
			return err
		}
		return change(r, &r.out.Ports[i], portAttributes, "port", path, do, a)
	}
}

// onData does a verb to the data beside the inventory.
func onData(do pathOperation) func(*evaluation, args) error {
	return func(r *evaluation, a args) error {
		path, err := dataPathOf(a)
		if err != nil {
			return err
		}
		if r.out.PluginData == nil {
			r.out.PluginData = map[string]any{}
		}
		r.touch(pluginData)
		return do.at(r, r.out.PluginData, path, a)
	}
}

// setCapability sets one entry of properties/capabilities and replaces its old value; Ironic would add a second entry
// of the name.
func setCapability(r *evaluation, a args) error {
	name, err := a.text("name")
	if err != nil {
		return err
	}
	value, err := a.text("value")
	if err != nil {
		return err
	}
	if name == "" || strings.ContainsAny(name, ":,") || strings.Contains(value, ",") {
		return fmt.Errorf("a capability is written name:value between commas, so %q cannot be one", safe(name))
	}
	return r.editCapabilities(func(caps string) string { return node.SetCapability(caps, name, value) })
}

func unsetCapability(r *evaluation, a args) error {
	name, err := a.text("name")
	if err != nil {
		return err
	}
	return r.editCapabilities(func(caps string) string { return node.UnsetCapability(caps, name) })
}

// editCapabilities edits properties/capabilities; a missing one counts as empty.
func (r *evaluation) editCapabilities(edit func(caps string) string) error {
	old, ok := r.out.Node.Properties["capabilities"].(string)
	if !ok && r.out.Node.Properties["capabilities"] != nil {
		return fmt.Errorf("properties/capabilities is %s, not text", nodeapi.JSONKind(r.out.Node.Properties["capabilities"]))
	}
	if err := r.spend(valuePrice * len(old)); err != nil {
		return err
	}
	caps := edit(old)
	if caps == "" && old == "" {
		return nil
	}
	if r.out.Node.Properties == nil {
		r.out.Node.Properties = map[string]any{}
	}
	r.touch("properties")
	r.out.Node.Properties["capabilities"] = caps
	return nil
}

func addTrait(r *evaluation, a args) error {
	name, err := a.text("name")
	if err != nil {
		return err
	}
	n := &r.out.Node
	switch {
	case !node.ValidTrait(name):
		return fmt.Errorf("%q is no trait: a custom one is CUSTOM_ with capital letters, digits and _", safe(name))
	case slices.Contains(n.Traits, name):
		return nil
	case len(n.Traits) >= node.MaxTraits:
		return fmt.Errorf("the node would have %d traits, the limit is %d", len(n.Traits)+1, node.MaxTraits)
	}
	n.Traits = append(n.Traits, name)
	slices.Sort(n.Traits)
	return nil
}

// removeTrait does not mind a trait that is not there.
func removeTrait(r *evaluation, a args) error {
	name, err := a.text("name")
	if err != nil {
		return err
	}
	r.out.Node.Traits = slices.DeleteFunc(r.out.Node.Traits, func(t string) bool { return t == name })
	return nil
}
