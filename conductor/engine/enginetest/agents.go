package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// ErrRefused is the answer of a machine without its agent any more.
var ErrRefused = fmt.Errorf("dial the agent: %w", syscall.ECONNREFUSED)

// agents is the world as the engine's AgentClient.
type agents struct{ *World }

func where(url string) (uuid string, boot int, err error) {
	_, err = fmt.Sscanf(url, agentURL, &uuid, &boot)
	return uuid, boot, err
}

func (a agents) Execute(ctx context.Context, n node.Node, cmd agentapi.Command,
	wait bool) (res agentapi.Result, err error) {
	uuid, boot, err := where(n.Agent.URL)
	if err != nil {
		return res, err
	}
	gone := ErrLost
	err = a.call(ctx, func() {
		m := a.Machine(uuid)
		if m.Boot == boot && m.LetGo {
			gone = ErrRefused
		}
		if m.Boot != boot || m.token != n.Agent.Token || m.LetGo {
			return
		}
		gone = nil
		_, short, _ := cmd.Split()
		if short == "finalize_rescue" && a.Finalizing != nil {
			if gone = a.Finalizing(m); gone != nil {
				return
			}
		}
		res = agentapi.Result{ID: fmt.Sprintf("%d-%d", boot, len(m.commands)), Name: short, Status: agentapi.Running}
		if res, gone = a.answer(m, uuid, cmd, res); gone != nil {
			return
		}
		m.LetGo = short == "finalize_rescue" || short == "kexec" && !m.Stays && res.Status == agentapi.Succeeded
		m.commands = append(m.commands, res)
		if short == "power_off" && a.PowerSlow {
			res.Status, res.Error = agentapi.Running, nil
			return
		}
		if i := len(m.commands) - 1; res.Status == agentapi.Running {
			a.powered.Go(func() { a.work(uuid, boot, i, cmd) })
		}
	})
	if err == nil {
		err = gone
	}
	return res, err
}

// answer is the first result of a command, or the failure of its call.
func (a agents) answer(m *Machine, uuid string, cmd agentapi.Command,
	res agentapi.Result) (_ agentapi.Result, gone error) {
	switch res.Name {
	case "get_clean_steps":
		res.Status, res.Result = agentapi.Succeeded,
			json.RawMessage(
				`{"clean_steps":{"ferrite":[{"step":"erase_devices_metadata","interface":"deploy","priority":99},{"step":"erase_devices","interface":"deploy","priority":0,"abortable":true},{"step":"never","interface":"deploy","priority":0}]},"hardware_manager_version":{"ferrite_hardware_manager":"1.0"}}`)
	case "get_deploy_steps":
		ours := "" // its manager has no name in most tests
		if a.Settings.Kexec {
			ours = `,"hardware_manager_version":{"ferrite_hardware_manager":"1.0"}`
		}
		res.Status, res.Result = agentapi.Succeeded,
			json.RawMessage(`{"deploy_steps":{"ferrite":[{"step":"write_image","interface":"deploy","priority":0}]}`+ours+`}`)
	case "get_service_steps":
		res.Status, res.Result = agentapi.Succeeded,
			json.RawMessage(
				`{"service_steps":{"ferrite":[{"step":"burnin_cpu","interface":"deploy","priority":0,"abortable":true}]}}`)
	case "get_partition_uuids":
		res.Status, res.Result = agentapi.Succeeded,
			json.RawMessage(`{"root uuid":"root-of-`+uuid[:8]+
				`","efi system partition uuid":"1234-ABCD","partitions":{"root":"/dev/sda2"}}`)
	case "install_bootloader":
		_ = json.Unmarshal(cmd.Params, &m.Boots) // our own engine has made it
	case "power_off":
		if gone = a.PowerOff; gone != nil {
			return res, gone
		}
		res.Status = agentapi.Succeeded
		if a.PowerFault != "" {
			res.Status, res.Error = agentapi.Failed,
				agentapi.NewCommandError("CommandExecutionError", "Command execution error", a.PowerFault)
		}
	case "sync":
		if gone = a.Syncing; gone != nil {
			return res, gone
		}
		res.Status = agentapi.Succeeded
	case "kexec":
		res.Status, res.Result = agentapi.Succeeded, json.RawMessage(`{"source":"uki","entry":"Lab","kernel":"a.efi"}`)
		if a.Kexecing != nil {
			gone = a.Kexecing(m, &res)
		}
		if gone != nil {
			return res, gone
		}
	case "finalize_rescue":
		res.Status = agentapi.Succeeded
	case "collect_system_logs":
		if res.Status, res.Result = agentapi.Succeeded, json.RawMessage(`{"system_logs":"packed"}`); a.Logless {
			res.Status, res.Error = agentapi.Failed,
				agentapi.NewCommandError("CommandExecutionError", "Command execution error", "no space left")
		}
	}
	return res, nil
}

// work is a command at work on the machine.
func (a agents) work(uuid string, boot, i int, cmd agentapi.Command) {
	var p struct {
		Step agentapi.Step
		Node agentapi.LookupNode
	}
	_ = json.Unmarshal(cmd.Params, &p)
	if p.Step.Step == "write_image" {
		a.alive(uuid, boot, func(m *Machine) {
			m.writing++
			if m.writing > 1 {
				a.T.Errorf("node %s: write_image runs twice at a time", uuid)
			}
		})
	}
	if a.hang() {
		a.linger(uuid, boot, p.Step.Step)
		return
	}
	time.Sleep(time.Duration(a.Pick(20_000)) * time.Millisecond * time.Duration(a.Pick(2))) // half of them at once
	ok := a.alive(uuid, boot, func(m *Machine) {
		m.commands[i].Status = agentapi.Succeeded
		switch p.Step.Step {
		case "erase_devices_metadata":
			m.Disk, m.wiped = "", true
		case "erase_devices": // but for one disk
			m.commands[i].Status, m.commands[i].Error = agentapi.Failed,
				agentapi.NewCommandError("BlockDeviceEraseError", "Error erasing block device", "sda is frozen")
			m.commands[i].Result = json.RawMessage(`{"clean_result":{"version":1,"node_uuid":"` + uuid +
				`","started":"2026-11-22T10:00:00Z","finished":"2026-11-22T10:00:09Z","disks":[{"device":"/dev/sda","size":1,"error":"frozen"}]}}`)
		case "write_image":
			tenant := fmt.Sprint(p.Node.InstanceInfo["tenant"])
			if !m.wiped && m.Tenant != tenant {
				a.T.Errorf("node %s: tenant %s deployed onto the uncleaned disk of tenant %s", uuid, tenant, m.Tenant)
			}
			m.wiped, m.Tenant = false, tenant
			m.writing--
			info := p.Step.Args["image_info"].(map[string]any)
			m.Disk, m.Image, m.Drive = fmt.Sprint(info["id"]), info, p.Step.Args["configdrive"]
		}
	})
	if ok {
		a.beat(uuid, boot)
	}
}

// linger is a step that never ends. Its agent calls in good time, and may report
// more done every minute.
func (a agents) linger(uuid string, boot int, step string) {
	a.Mu.Lock()
	creeps := a.Rng.Float64() < a.Creep
	a.Mu.Unlock()
	for done := int64(1); a.alive(uuid, boot, nil); done++ {
		time.Sleep(time.Minute)
		var token string
		if creeps && a.alive(uuid, boot, func(m *Machine) { token = m.token }) {
			// an agent only logs it
			_ = a.engine().Progress(a.Ctx, uuid,
				agentapi.Progress{AgentToken: token, Step: step, Stage: "sda", Done: done, Total: 1000})
		}
	}
}

func (a agents) Commands(ctx context.Context, n node.Node) (out []agentapi.Result, err error) {
	uuid, boot, err := where(n.Agent.URL)
	if err != nil {
		return nil, err
	}
	gone := ErrLost
	err = a.call(ctx, func() {
		switch m := a.Machine(uuid); {
		case m.Boot == boot && m.LetGo:
			gone = ErrRefused
		case m.Boot == boot:
			gone = nil
			out = append(out, m.commands...)
		}
	})
	if err == nil {
		err = gone
	}
	return out, err
}
