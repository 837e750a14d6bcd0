package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// agentCall bounds one call to an agent.
const agentCall = 25 * time.Second

// send gives the agent one command. After a crash of ours it first looks for the command in the agent's list: a command
// that is sent twice would run twice.
func (j *job) send(ctx context.Context, name string, params any, wait bool) (agentapi.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, agentCall)
	defer cancel()
	raw, err := json.Marshal(params)
	if err != nil {
		return agentapi.Result{}, node.Refuse(node.Invalid, "the parameters of %s cannot be sent: %v", name, err)
	}
	cmd := agentapi.Command{Name: name, Params: raw}
	if _, short, err := cmd.Split(); err == nil && j.effect.Attempt > 1 {
		if res, found, err := j.sentBefore(ctx, short); err != nil || found {
			return res, err
		}
	}
	return j.Agents.Execute(ctx, j.n, cmd, wait)
}

// sentBefore finds a command with this name that is newer than the last command with a recorded answer.
func (j *job) sentBefore(ctx context.Context, name string) (agentapi.Result, bool, error) {
	all, err := j.Agents.Commands(ctx, j.n)
	if err != nil {
		return agentapi.Result{}, false, err
	}
	last := slices.IndexFunc(all, func(r agentapi.Result) bool { return r.ID == j.n.Agent.LastCommand })
	for _, r := range all[last+1:] {
		if r.Name == name {
			return r, true, nil
		}
	}
	return agentapi.Result{}, false, nil
}

// getSteps asks for the agent's own steps of the activity under way.
func (j *job) getSteps(ctx context.Context) (any, error) {
	kind, err := j.kind()
	if err != nil {
		return nil, err
	}
	params, err := j.nodeAndPorts(ctx)
	if err != nil {
		return nil, err
	}
	res, err := j.send(ctx, fmt.Sprintf("%s.get_%s_steps", kind, kind), params, true)
	if err != nil {
		return nil, err
	}
	if res.Status != agentapi.Succeeded {
		return nil, node.Refuse(node.Invalid, "the agent could not list its %s steps: %s", kind, errorText(res))
	}
	return res.Result, nil
}

// executeStep begins one of the agent's steps.
func (j *job) executeStep(ctx context.Context) (any, error) {
	kind, err := j.kind()
	if err != nil {
		return nil, err
	}
	var s node.Step
	if err := j.args(&s); err != nil {
		return nil, err
	}
	params, err := j.nodeAndPorts(ctx)
	if err != nil {
		return nil, err
	}
	if s.String() == "deploy.write_image" {
		if err := j.completeImage(ctx, kind, &s); err != nil {
			return nil, err
		}
	}
	if err := j.addInspectedDisks(ctx, s, params); err != nil {
		return nil, err
	}
	params["step"] = agentapi.Step{
		Interface: s.Interface, Step: s.Step, Args: s.Args, Priority: s.Priority,
		RebootRequested: s.Reboot, Abortable: s.Abortable,
	}
	params[kind+"_version"] = j.n.Run.Versions // null for an agent that reported none: it does not compare
	return j.send(ctx, fmt.Sprintf("%s.execute_%s_step", kind, kind), params, false)
}

// addInspectedDisks adds the disks that the last inspection saw to the node of a step that waits for them. They are
// where other agents look for nothing.
func (j *job) addInspectedDisks(ctx context.Context, s node.Step, params map[string]any) error {
	if !plan.ComparesDisks(j.n, s) {
		return nil
	}
	found, err := j.InventoryOf(ctx, j.n.UUID)
	if err != nil {
		return err
	}
	n, ok := params["node"].(map[string]any)
	if !ok {
		return nil
	}
	internal, ok := n["driver_internal_info"].(map[string]any)
	if disks := plan.ExpectedDisks(j.n, found); ok && len(disks) > 0 {
		internal[agentapi.InspectedDisks] = disks
	}
	return nil
}

// completeImage adds the parts of an image step that are secret or large, and therefore not kept with the step.
func (j *job) completeImage(ctx context.Context, kind string, s *node.Step) error {
	locating, cancel := context.WithTimeout(ctx, agentCall) // the image's owner names its server, and the node is locked
	defer cancel()
	if err := j.locateImage(locating, s); err != nil || kind != "deploy" {
		return err
	}
	return j.addConfigDrive(s)
}

// addConfigDrive puts the config drive where ironic-python-agent looks for it.
func (j *job) addConfigDrive(s *node.Step) error {
	drive := j.n.InstanceInfo["configdrive"]
	if drive == nil || drive == "" { // Ironic takes an empty one for none
		return nil
	}
	encoded, err := j.Drives.Encode(drive, j.n)
	if err != nil {
		return node.Refuse(node.Invalid, "config drive: %v", err)
	}
	if s.Args == nil { // a step the agent asked for by itself
		s.Args = map[string]any{}
	}
	s.Args["configdrive"] = encoded
	return nil
}

// getPartitionUUIDs asks for the result of writing a partition image.
func (j *job) getPartitionUUIDs(ctx context.Context) (any, error) {
	return j.send(ctx, "standby.get_partition_uuids", map[string]any{}, true)
}

// installBootloader makes an image bootable. One of a whole disk brings its own
// partitions: there is no root file system to point at, which Ironic says with
// the identifier of no disk.
func (j *job) installBootloader(ctx context.Context) (any, error) {
	params := map[string]any{"root_uuid": agentapi.NoRootUUID, "efi_system_part_uuid": nil, "prep_boot_part_uuid": nil}
	if err := j.args(&params); err != nil {
		return nil, err
	}
	return j.send(ctx, "image.install_bootloader", params, false)
}

// sync has the agent write its kernel's caches to disk. An older agent does not know the command: it writes them when
// it powers off.
func (j *job) sync(ctx context.Context) (any, error) {
	res, err := j.send(ctx, "standby.sync", map[string]any{}, true)
	var unknown interface{ UnknownCommand() bool }
	if errors.As(err, &unknown) && unknown.UnknownCommand() {
		j.Log.Info("agent knows no standby.sync: the step is left out", "node", j.n.UUID, "agent",
			j.n.Agent.Version, "err", err)
		return agentapi.Result{ID: j.n.Agent.LastCommand, Name: "sync", Status: agentapi.Succeeded}, nil
	}
	return res, err
}

// poll asks for the state of a command.
func (j *job) poll(ctx context.Context, a plan.PollArgs) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, agentCall)
	defer cancel()
	all, err := j.Agents.Commands(ctx, j.n)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.ID == a.Command {
			return r, nil
		}
	}
	return nil, node.Refuse(node.Conflict,
		"the agent at %s does not know command %s: it was restarted in the middle of it", j.n.Agent.URL, a.Command)
}

// kind is the agent's word for the activity under way.
func (j *job) kind() (string, error) {
	if j.n.Run == nil {
		return "", node.Refuse(node.Conflict, "node %s has nothing under way", j.n.UUID)
	}
	return j.n.Run.Activity, nil
}

// nodeAndPorts returns the parameters that every step command has.
func (j *job) nodeAndPorts(ctx context.Context) (map[string]any, error) {
	ports, err := j.Store.Ports(ctx, node.PortQuery{NodeUUID: j.n.UUID})
	if err != nil {
		return nil, err
	}
	return map[string]any{"node": core.AgentView(j.n, j.Settings.Erasing), "ports": ports}, nil
}

func errorText(r agentapi.Result) string {
	if r.Error != nil {
		return r.Error.Text()
	}
	return fmt.Sprintf("status %s", r.Status)
}
