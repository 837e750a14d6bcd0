package plan

import (
	"encoding/json"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// outcome is one way an effect can end.
type outcome struct{ name, result, failure string }

// results are the ways the pending effect can end. The first way leads on: it is a success if the world works, and a
// failure if it does not.
func results(w world, works bool) []outcome {
	if w.pending == nil {
		return nil
	}
	good := []outcome{{"ok", "null", ""}}
	if r, ok := special[w.pending.Name]; ok {
		good = r
	}
	if w.pending.Name == attachNetwork {
		good = attached(w)
	}
	bad := outcome{"fails", "", "it does not work"}
	if !works {
		return append([]outcome{bad}, good...)
	}
	return append(good, bad)
}

// attached is the outcome of a change of network: a ramdisk's has a port.
func attached(w world) []outcome {
	var a NetworkArgs
	if json.Unmarshal(w.pending.Args, &a) != nil || a.Network == TenantNetwork || a.Network == NoNetwork {
		return []outcome{{"attached", `{}`, ""}}
	}
	return []outcome{{"attached", `{"network":"` + a.Network + `","ports":{"p1":"n1"}}`, ""}}
}

// outcome is how the pending effect ends in a mood.
func (m mood) outcome(w world) outcome {
	all := results(w, m.works)
	for _, o := range all {
		if m.lingers && (o.name == "running" || o.name == "again") {
			return o
		}
	}
	return all[0]
}

// special are effects with an outcome beyond success.
var special = map[string][]outcome{
	"power.validate":      {{"on", `{"power_state":"power on"}`, ""}},
	"management.validate": {{"ok", `{"boot_mode":"uefi"}`, ""}},
	"inspect.read_system": {{"ok", `{}`, ""}},
	readPorts:             {{"ports", `{"macs":["52:54:00:00:00:01"]}`, ""}, {"none", `{}`, ""}},
	"agent.get_steps": {{"steps",
		`{"clean_steps":{"m":[{"step":"erase_devices_metadata","interface":"deploy","priority":99}]},` +
			`"deploy_steps":{"m":[{"step":"write_image","interface":"deploy","priority":0}]},` +
			`"service_steps":{"m":[{"step":"erase_devices_metadata","interface":"deploy","priority":0,"abortable":true}]},"hardware_manager_version":{"ferrite_hardware_manager":"1"}}`,
		""}},
	"agent.execute_step": {
		{"succeeded", `{"id":"1","command_status":"SUCCEEDED"}`, ""},
		{"running", `{"id":"1","command_status":"RUNNING"}`, ""},
		{"failed", `{"id":"1","command_status":"FAILED","command_error":{"details":"no"}}`, ""},
		{"another agent", `{"id":"1","command_status":"CLEAN_VERSION_MISMATCH"}`, ""},
	},
	"agent.poll": {
		{"succeeded", `{"id":"1","command_status":"SUCCEEDED"}`, ""},
		{"running", `{"id":"1","command_status":"RUNNING"}`, ""},
	},
	"agent.install_bootloader": {{"ok", `{"id":"2","command_status":"SUCCEEDED"}`, ""},
		{"running", `{"id":"2","command_status":"RUNNING"}`, ""}},
	"agent.get_partition_uuids": {
		{"ok", `{"id":"5","command_status":"SUCCEEDED","command_result":{"root uuid":"r"}}`, ""},
	},
	"agent.sync":               {{"ok", `{"id":"3","command_status":"SUCCEEDED"}`, ""}},
	"agent.finalize_rescue":    {{"ok", `{"id":"4","command_status":"SUCCEEDED"}`, ""}},
	BootModeRequest{}.effect(): {{"ok", `{}`, ""}, {"after a start", `{"restarted":true}`, ""}},
	hardwareEffect:             {{"told", `{"BIOS":[{"name":"A"}],"Firmware":null}`, ""}},
	driverEffect: {
		{"done", `{"done":true}`, ""},
		{"again", `{"task":"t","after":1000000000}`, ""},
		{"reboot", `{"reboot":true}`, ""},
	},
}

// settle brings the outcome of the pending effect home.
func (x *explorer) settle(w world, o outcome) (world, bool) {
	done := w.n.Run.Current()
	e := Outcome{Effect: *w.pending, Failure: o.failure}
	if o.failure == "" {
		e.Result = json.RawMessage(o.result)
	}
	ours := w.n.Run != nil && w.n.Run.Generation == w.pending.Generation
	before := w
	if _, leaves := w.moves(); leaves && o.failure == "" {
		before.entered = false
	}
	next, ok := x.step(before, w.pending.Name+" "+o.name, e, true)
	if ours && done != nil && done.InBand && strings.Contains(o.result, "SUCCEEDED") {
		switch done.Step {
		case "write_image":
			next.dirty = true
		case "erase_devices_metadata":
			next.dirty = false
		}
	}
	return next, ok
}

// requests are the requests that an operator may make, in any state.
func requests() map[string]Event {
	all := map[string]Event{
		"power off": PowerRequest{Target: node.PowerOff}, "shut down": PowerRequest{Target: node.SoftPowerOff},
		"power off at once": PowerRequest{Target: node.PowerOff, Overtake: true},
		"power on":          PowerRequest{Target: node.PowerOn}, "reboot": PowerRequest{Target: node.Rebooting},
		"boot mode": BootModeRequest{Mode: "uefi"}, "secure boot": SecureBootRequest{On: true},
		"console": ConsoleRequest{On: true},
		"attach":  AttachRequest{Medium: node.Medium{Device: "cdrom", Image: "http://images/a.iso"}},
		"detach":  DetachRequest{},
		"vendor":  VendorRequest{Method: "m"},
		"clean": Request{Verb: node.Clean, CleanSteps: []node.Step{
			{Interface: "deploy", Step: "erase_devices_metadata"}, {Interface: "deploy", Step: "hold"},
			{Interface: "bios", Step: "apply"},
		}},
		"clean, driver": Request{
			Verb: node.Clean,
			CleanSteps: []node.Step{
				{Interface: "bios", Step: "apply"}, {Interface: "deploy", Step: "wait", Args: map[string]any{"seconds": 1.0}},
			},
		},
		"clean, nobody": Request{Verb: node.Clean, CleanSteps: []node.Step{{Interface: "deploy", Step: "nobody"}},
			DisableRamdisk: true},
		"service": Request{
			Verb: node.Service, ServiceSteps: []node.Step{{Interface: "deploy", Step: "erase_devices_metadata"},
				{Interface: "deploy", Step: "hold"}},
		},
		"rescue": Request{Verb: node.RescueIt, RescueHash: "$6$"},
	}
	for _, verb := range []node.Event{
		node.Manage, node.Provide, node.Inspect, node.Adopt, node.Deploy, node.Rebuild, node.Delete, node.Unrescue,
		node.Abort, node.Unhold,
	} {
		all[string(verb)] = Request{Verb: verb}
	}
	return all
}

// successors are the worlds after each event that can happen now.
func (x *explorer) successors(w world) []world {
	var out []world
	keep := func(next world, ok bool) {
		if ok {
			out = append(out, next)
		}
	}
	for name, e := range requests() {
		keep(x.step(w, name, e, false))
	}
	for _, o := range results(w, true) {
		keep(x.settle(w, o))
	}
	keep(x.step(w, "heartbeat", heartbeat(w), false))
	if w.n.Run.Current() != nil && w.n.ProvisionState == node.InspectWait {
		keep(x.step(w, "data", inspectedEvent, false))
	}
	if !w.n.Deadline.IsZero() {
		keep(x.step(w, "deadline", Expired{}, false))
	}
	if r := w.n.Run; r != nil && !r.StepSince.IsZero() { // a step has had its time
		x.now = r.StepSince.Add(DefaultSettings().StepLimit)
		keep(x.step(w, "step limit", Expired{}, false))
		for _, o := range results(w, true) {
			keep(x.settle(w, o))
		}
		x.now = exploreNow
	}
	// A crash loses the memory and keeps the stored data.
	crashed := w
	crashed.seen = false
	next, moved := x.step(crashed, "crash", Restarted{}, false)
	if moved && !Restarts(w.n, w.pending != nil) {
		x.complain(w, "is changed by a restart, for which nobody asks")
	}
	if !moved {
		crashed.trail = append(w.trail[:len(w.trail):len(w.trail)], "crash")
		next = crashed
	}
	out = append(out, next)
	x.late(w)
	return out
}

// late brings an outcome of a run that is over: it must change nothing.
func (x *explorer) late(w world) {
	old := node.Effect{Node: w.n.UUID, Generation: -1, Name: "power.power_off"}
	next, _ := x.step(w, "late outcome", Outcome{Effect: old, Result: json.RawMessage("null")}, false)
	next.n.Revision = w.n.Revision
	if next.key() != w.key() {
		x.complain(w, "an outcome of an earlier run changed the node")
	}
}
