package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan/rules"
)

// callEffect is a call that an inspection rule asks for.
const callEffect = "inspect.call_api"

// applyRules applies operators' inspection rules to the findings: the node, its ports, old and new, and the stored
// inspection data. If a rule fails, the findings are stored as they were before the rules.
func (d *decision) applyRules() error {
	if len(d.f.Rules) == 0 {
		return nil
	}
	found := rules.Found{Node: d.n, Ports: d.allPorts(), NameTaken: d.f.NameTaken}
	if err := json.Unmarshal(d.inspected.Inventory, &found.Inventory); err != nil {
		return fmt.Errorf("the inventory cannot be read by inspection rules: %w", err)
	}
	if err := json.Unmarshal(d.inspected.PluginData, &found.PluginData); err != nil {
		return fmt.Errorf("the plugin data cannot be read by inspection rules: %w", err)
	}
	out, err := rules.Apply(d.f.Rules, found)
	for _, l := range out.Lines {
		d.note(l.Severity, l.Text)
	}
	if err != nil {
		return err
	}
	if err := d.machineByRules(&out.Node); err != nil {
		return err
	}
	raw, err := json.Marshal(out.PluginData)
	if err != nil {
		return fmt.Errorf("the plugin data cannot be written after inspection rules: %w", err)
	}
	d.fillInterfaces(&out.Node)
	d.n, d.dirty = out.Node, true
	d.inspected.PluginData = raw
	d.takePorts(out.Ports)
	return d.enqueueCalls(out.Calls)
}

// fillInterfaces gives the interfaces that rules have emptied their defaults.
func (d *decision) fillInterfaces(n *node.Node) {
	hw, _ := node.HardwareTypeByName(n.Driver)
	hw = hw.WithDefaults(d.f.Settings.DefaultInterfaces)
	for kind, name := range n.Interfaces {
		if name == "" {
			n.Interfaces[kind] = hw.Default(kind)
		}
	}
}

// machineByRules refuses the BMC that rules gave the node where another node has it.
func (d *decision) machineByRules(n *node.Node) error {
	was, _ := d.n.Machine()
	is, _ := n.Machine()
	if is != was {
		n.SharesMachine = false
	}
	if taken := d.f.MachineTaken; taken != nil && n.MachineKey() == taken.Machine.Key() {
		return fmt.Errorf("inspection rules name a BMC in driver_info that another node has: %w", taken)
	}
	return nil
}

// allPorts is the ports there were, as they are by now, and the new ones.
func (d *decision) allPorts() []node.Port { return slices.Concat(d.f.Ports, d.ports) }

// takePorts stores the ports of an inspection, the new ones after the old ones.
func (d *decision) takePorts(ports []node.Port) {
	old := len(d.f.Ports)
	d.ports = ports[old:]
	for i, p := range ports[:old] {
		if !reflect.DeepEqual(p, d.f.Ports[i]) {
			d.rewire(p)
		}
	}
}

// enqueueCalls puts the calls that rules ask for into the run, as its next steps.
func (d *decision) enqueueCalls(calls []rules.Call) error {
	var steps []node.Step
	for _, c := range calls {
		raw, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("a call of inspection rule %s: %w", c.Rule, err)
		}
		var args map[string]any
		if err := json.Unmarshal(raw, &args); err != nil {
			return fmt.Errorf("a call of inspection rule %s: %w", c.Rule, err)
		}
		steps = append(steps, step("inspect", "call_api", args))
	}
	d.insert(d.n.Run.Index+1, steps...)
	return nil
}
