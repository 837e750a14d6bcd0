package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Jobs carries out effects: calls to BMCs, agents and other services.
type Jobs struct {
	*core.Core
	Vitals VitalsReader
}

// VitalsReader reads the power state and health of a machine.
type VitalsReader interface {
	ReadVitals(ctx context.Context, bmc core.BMC, n node.Node) (node.Vitals, error)
}

// job is one effect being carried out.
type job struct {
	*Jobs
	n      node.Node
	bmc    core.BMC
	effect node.Effect
	leave  func()    // the slot: see carryOut
	until  time.Time // no call of a BMC lasts beyond it; zero for none
}

// jobs binds a function to each row of plan's table of effects. Its result goes to the row's settle, as JSON.
var jobs = map[string]func(*job, context.Context) (any, error){
	"power.validate":                  (*job).validatePower,
	"management.validate":             (*job).validateManagement,
	"power.power_on":                  (*job).power,
	"power.power_off":                 (*job).power,
	"power.reboot":                    (*job).power,
	"power.request":                   (*job).power,
	plan.ShutDown:                     (*job).power,
	"management.set_boot_device":      with((*job).setBootDevice),
	"management.set_boot_mode":        (*job).setBootMode,
	"management.read_hardware":        (*job).readHardware,
	"inspect.read_system":             (*job).readMachine,
	"inspect.read_ports":              (*job).readSystem,
	"inspect.call_api":                with((*job).callAPI),
	"agent.get_steps":                 (*job).getSteps,
	"agent.execute_step":              (*job).executeStep,
	"agent.get_partition_uuids":       (*job).getPartitionUUIDs,
	"agent.install_bootloader":        (*job).installBootloader,
	"agent.sync":                      (*job).sync,
	"agent.kexec":                     with((*job).kexec),
	"agent.power_off":                 (*job).agentPowerOff,
	"agent.finalize_rescue":           (*job).finalizeRescue,
	"management.change_boot_mode":     with((*job).changeBootMode),
	"management.change_secure_boot":   with((*job).changeSecureBoot),
	"management.insert_boot_medium":   with((*job).insertBootMedium),
	"management.eject_boot_medium":    (*job).ejectBootMedium,
	"management.clear_boot_medium":    (*job).ejectBootMedium,
	"management.attach_virtual_media": with((*job).attachMedium),
	"management.detach_virtual_media": with((*job).detachMedia),
	"console.change":                  with((*job).changeConsole),
	"vendor.call":                     with((*job).callVendor),
	"driver.execute_step":             with((*job).driverStep),
	"children.execute_step":           with((*job).childrenStep),
	"agent.poll":                      with((*job).poll),
	"agent.collect_logs":              (*job).collectLogs,
	"network.attach":                  with((*job).attachNetwork),
	"network.reattach_networking":     (*job).reattachNetworks,
	"network.leave":                   (*job).leaveNetwork,
	"network.return_to_tenant":        (*job).returnToTenant,
}

// with binds a function that takes the arguments of its effect.
func with[T any](do func(j *job, ctx context.Context, args T) (any, error)) func(*job, context.Context) (any, error) {
	return func(j *job, ctx context.Context) (any, error) {
		var args T
		if err := j.args(&args); err != nil {
			return nil, err
		}
		return do(j, ctx, args)
	}
}

// Perform carries out one effect.
func (e *Jobs) Perform(ctx context.Context, ef node.Effect, leave func()) (any, error) {
	n, err := e.Store.Node(ctx, ef.Node)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", ef.Node, err)
	}
	if !plan.Wanted(n, ef) {
		return nil, nil
	}
	do, ok := jobs[ef.Name]
	if !ok {
		return nil, node.Refuse(node.Invalid, "this conductor does not know how to carry out %s", ef.Name)
	}
	bmc, ok := e.BMCs[n.Driver]
	if !ok {
		return nil, node.Refuse(node.Invalid, "hardware type %q of node %s is not enabled on %s", n.Driver, n.UUID,
			e.ConductorName())
	}
	working, end := e.Traces.Working(ctx, n, ef)
	if ef.Accepted == nil {
		ef.Accepted = map[string]time.Time{}
	}
	if v, ok := bmc.(core.Volatile); ok && v.Volatile() {
		maps.DeleteFunc(ef.Accepted, func(action string, at time.Time) bool {
			return at.Before(e.Started) && action != plan.TenantNetwork // which is no machine's
		})
	}
	result, err := (&job{Jobs: e, n: n, bmc: bmc, effect: ef, leave: leave}).guard(working, do)
	end(result, err)
	return result, err
}

// guard turns a panic into a failure. Jobs decode answers of machines: an answer that hits a fault of ours must not end
// the conductor of all other nodes, again after every start.
func (j *job) guard(ctx context.Context, do func(*job, context.Context) (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			j.Log.Error("effect panicked", "node", j.n.UUID, "effect", j.effect.Name, "panic", p, "stack", string(debug.Stack()))
			result, err = nil, node.Refuse(node.Invalid, "a fault in this program: %v; please report it with the log", p)
		}
	}()
	if j.effect.Attempt > 1 && !plan.Repeats(j.effect.Name) {
		return nil, node.Refuse(node.Conflict, "a conductor ended in the middle of it, so it is not known whether it was "+
			"done: look, and call it again if it was not")
	}
	return do(j, ctx)
}

func (j *job) args(into any) error {
	if err := json.Unmarshal(j.effect.Args, into); err != nil {
		return node.Refuse(node.Invalid, "the arguments of %s cannot be read: %v", j.effect.Name, err)
	}
	return nil
}

// validatePower checks the configuration, then that the BMC accepts the credentials.
func (j *job) validatePower(ctx context.Context) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Patience(j.n).Verify)
	defer cancel()
	if err := j.bmc.Validate(j.n); err != nil {
		return nil, node.Refuse(node.Invalid, "%v", err)
	}
	v, err := j.Vitals.ReadVitals(ctx, j.bmc, j.n)
	return plan.Validated{PowerState: v.Power, Health: v.Health}, err
}

// validateManagement reads the settings that later steps will change.
func (j *job) validateManagement(ctx context.Context) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Patience(j.n).Verify)
	defer cancel()
	if _, _, err := j.bmc.BootDevice(ctx, j.n); err != nil {
		return nil, err
	}
	mode, err := j.bmc.BootMode(ctx, j.n)
	if err != nil {
		return nil, err
	}
	return plan.Validated{BootMode: mode, SecureBoot: j.secureBoot(ctx), SystemUUID: j.systemUUID(ctx)}, nil
}

// systemUUID reads the UUID of the machine; "" when that is not known: a BMC that cannot say fails nothing.
func (j *job) systemUUID(ctx context.Context) string {
	bmc, ok := j.bmc.(core.SystemNamer)
	if !ok {
		return ""
	}
	uuid, err := bmc.SystemUUID(ctx, j.n)
	if err != nil {
		j.Log.Info("the BMC does not say which UUID the machine has", "node", j.n.UUID, "err", err)
	}
	return uuid
}

// secureBoot reads whether secure boot is on; nil when that is not known: a BMC
// that cannot say fails nothing.
func (j *job) secureBoot(ctx context.Context) *bool {
	bmc, ok := j.bmc.(core.SecureBooter)
	if !ok {
		return nil
	}
	on, err := bmc.SecureBoot(ctx, j.n)
	if err != nil {
		j.Log.Info("the BMC does not say whether secure boot is on", "node", j.n.UUID, "err", err)
	}
	return on
}

func (j *job) setBootDevice(ctx context.Context, a plan.BootDeviceArgs) (any, error) {
	if plan.BootsUnsigned(j.n, a) {
		call, cancel := context.WithTimeout(ctx, j.Patience(j.n).Verify)
		on := j.secureBoot(call)
		cancel()
		if err := plan.CheckSecureBoot(j.n, on); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, j.Patience(j.n).Call)
	defer cancel()
	return core.SetBootDevice(ctx, j.bmc, j.n, a)
}

func (j *job) setBootMode(ctx context.Context) (any, error) {
	var a struct {
		Mode string `json:"mode"`
	}
	if err := j.args(&a); err != nil || j.n.Idle("management") {
		return nil, err
	}
	done, err := j.changeMode(ctx, a.Mode)
	if lacks := (*node.Refusal)(nil); errors.As(err, &lacks) && lacks.Kind == node.Lacking {
		return plan.ChoreDone{Note: lacks.Reason}, nil // as Ironic, which deploys on
	}
	return done, err
}

// readMachine reads the system, and its parts if the driver can.
func (j *job) readMachine(ctx context.Context) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Patience(j.n).Scan())
	defer cancel()
	s, err := j.bmc.System(ctx, j.n)
	if err != nil {
		return nil, err
	}
	if reader, ok := j.bmc.(core.PartReader); ok {
		s.Parts, err = reader.Parts(ctx, j.n)
	}
	return s, err
}

func (j *job) readSystem(ctx context.Context) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Patience(j.n).Scan())
	defer cancel()
	return j.bmc.System(ctx, j.n)
}
