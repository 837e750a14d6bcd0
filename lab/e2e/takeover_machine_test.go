package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// stageKept is how long a boot stage may take into the database.
const stageKept = 500 * time.Millisecond

// instant is a moment of a machine's life at which the leader is killed.
type instant struct {
	when string
	come func(nodeapi.Status) bool
	held bool // the deploy is held before it, until both conductors run
}

// reached is when a boot has come to a stage.
func reached(stage string) instant {
	return instant{"at " + stage, func(st nodeapi.Status) bool {
		return slices.ContainsFunc(st.BootStages, func(s nodeapi.Stage) bool { return s.Name == stage })
	}, false}
}

// doing is when a step is under way.
func doing(step string) instant {
	return instant{"during " + step, func(st nodeapi.Status) bool { return st.Step == step }, false}
}

// afterHold is the same once the deploy was held.
func afterHold(step string) instant {
	i := doing(step)
	i.held = true
	return i
}

// pausing are holds between the steps of a deploy: there the killed conductor is started again.
func pausing(priorities ...int) (all []nodeapi.Step) {
	for _, p := range priorities {
		all = append(all, nodeapi.Step{Interface: "deploy", Step: "hold", Priority: &p})
	}
	return all
}

// survivor is a machine that loses its conductor again and again.
type survivor struct {
	spec     qemu.Spec
	node     map[string]any // more of its node
	cleaning []instant
	holds    []int // priorities, before those instants that are held
	deploy   []instant
}

// The survivors: a boot by the firmware's own PXE and TFTP, with a start through the firmware after the deploy, and one
// by iPXE of the card, with kexec. Between two instants there is time to start the killed conductor again: cleaning is
// over soon after the lookup.
func survivors() []survivor {
	uefi := machine("metal-1", qemu.UEFI)
	uefi.NICs[0].OptionROM = false
	image := instant{"while the image is written", writing, false}
	drive := instant{"at the config drive", func(st nodeapi.Status) bool {
		return st.Progress != nil && st.Progress.Stage == "config drive" || st.State == "deploy hold"
	}, false}
	return []survivor{
		{uefi, map[string]any{"boot_interface": "pxe", "properties": map[string]any{"capabilities": "kexec:never"}},
			[]instant{reached("dhcp offer"), reached("tftp boot file"), reached("ipxe script"), reached("kernel"),
				reached("ramdisk"), reached("lookup")},
			[]int{70, 50, 30},
			[]instant{image, drive, afterHold("agent.install_bootloader"), afterHold("agent.power_off"),
				afterHold("power.power_on")}},
		{machine("metal-2", qemu.BIOS), nil,
			[]instant{reached("dhcp offer"), reached("ipxe script"), reached("kernel"), reached("heartbeat")},
			[]int{50}, []instant{image, afterHold("agent.kexec")}},
	}
}

// takenOver takes machines from enroll to their own OS while the leader is killed at every stage and step.
func takenOver(database string) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) (err error) {
		all := survivors()
		specs := make([]qemu.Spec, len(all))
		for i, s := range all {
			specs[i] = s.spec
		}
		r, done, err := b.room(ctx, database, specs, "--heartbeat-timeout", "15s", "--boot-retry-after", "45s")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		for i, s := range all {
			err := r.survives(ctx, r.Machines[i], s)
			b.figures.survived(err == nil)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Machines[i].Name, err)
			}
			b.lap(r.Machines[i].Name)
		}
		return nil
	}
}

// survives takes one machine through its life.
func (r *room) survives(ctx context.Context, m *lab.Machine, s survivor) error {
	if _, err := r.Enroll(ctx, m, s.node); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if _, err := r.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
		return fmt.Errorf("manage: %w", err)
	}
	if err := r.Provision(ctx, m.Name, "provide", nil); err != nil {
		return fmt.Errorf("provide: %w", err)
	}
	v := &victim{room: r, machine: m}
	for _, i := range s.cleaning {
		if err := v.loses(ctx, i); err != nil {
			return fmt.Errorf("cleaning: %w", err)
		}
	}
	if _, err := r.Until(ctx, m.Name, "available"); err != nil {
		return fmt.Errorf("cleaning: %w", err)
	}
	if err := v.deploys(ctx, pausing(s.holds...), s.deploy); err != nil {
		return fmt.Errorf("deploy: %w", err)
	}
	return v.neverFailed(ctx)
}

// victim is a machine with conductors that are killed.
type victim struct {
	*room
	machine *lab.Machine
	address string // its lease, once it has one
}

// deploys writes an image, slowly, and waits until it runs.
func (v *victim) deploys(ctx context.Context, holds []nodeapi.Step, kills []instant) error {
	name := v.machine.Name
	img := image(v.Site, v.tiny, v.tiny.RawZst)
	file := v.tiny.ID + "/" + filepath.Base(v.tiny.RawZst)
	if err := v.Images.SetFault(file, lab.ImageFault{Kind: lab.ImageSlow, Rate: 3 << 20}); err != nil {
		return err
	}
	defer v.Images.ClearFaults()
	asked := time.Now()
	if err := v.SetImage(ctx, name, img); err != nil {
		return err
	}
	body := nodeapi.Provision{Target: "active", ConfigDrive: drive(v.Site, name), DeploySteps: holds}
	if err := v.Call(ctx, http.MethodPut, "/v1/nodes/"+name+"/states/provision", body, nil); err != nil {
		return err
	}
	for _, i := range kills {
		if err := v.loses(ctx, i); err != nil {
			return err
		}
	}
	if err := booted(ctx, v.Site, v.machine, v.tiny.ID, name, asked); err != nil {
		return err
	}
	reports := v.PhoneHomes()
	from, err := netip.ParseAddrPort(reports[len(reports)-1].Remote)
	if err != nil || from.Addr().String() != v.address {
		return fmt.Errorf("the OS reports from %v, expected its address %s: %w", from, v.address, err)
	}
	return nil
}

// loses kills the leader at an instant, compares its successor's data, and starts the killed one again.
func (v *victim) loses(ctx context.Context, i instant) error {
	if i.held {
		if _, err := v.Until(ctx, v.machine.Name, "deploy hold"); err != nil {
			return fmt.Errorf("before the kill %s: %w", i.when, err)
		}
		if err := v.Provision(ctx, v.machine.Name, "unhold", nil); err != nil {
			return fmt.Errorf("before the kill %s: %w", i.when, err)
		}
	}
	if err := moment(ctx, v.Site, v.machine.Name, i.come); err != nil {
		return fmt.Errorf("kill %s: %w", i.when, err)
	}
	before, err := v.sight(ctx)
	if err != nil {
		return fmt.Errorf("before the kill %s: %w", i.when, err)
	}
	killed, err := v.takeOver(ctx, i.when)
	if err != nil {
		return err
	}
	after, err := v.sight(ctx)
	if err != nil {
		return fmt.Errorf("after the kill %s: %w", i.when, err)
	}
	if err := before.within(after); err != nil {
		return fmt.Errorf("after the kill %s: %w", i.when, err)
	}
	if after.lease != "" {
		v.address = after.lease
	}
	return v.revive(ctx, killed)
}

// sight is a conductor's view of a machine.
type sight struct {
	at     time.Time
	status nodeapi.Status
	log    string
	lease  string
}

func (v *victim) sight(ctx context.Context) (s sight, err error) {
	s.at = time.Now()
	if s.status, err = v.Status(ctx, v.machine.Name); err != nil {
		return s, err
	}
	if s.log, err = v.ferrite(ctx, v.Site, "node", "logs", v.machine.Name); err != nil &&
		!strings.Contains(err.Error(), "There is no log") {
		return s, err
	}
	var all nodeapi.Leases
	if err := v.Call(ctx, http.MethodGet, nodeapi.FerriteRoot+"/leases", nil, &all); err != nil {
		return s, err
	}
	for _, l := range all.Leases {
		if l.MAC == v.machine.Spec().NICs[0].MAC {
			s.lease = l.IP
		}
	}
	return s, nil
}

// within reports the data that an earlier conductor has shown and a later one lacks.
func (s sight) within(later sight) error {
	if strings.Contains(later.status.State, "fail") || later.status.LastError != "" {
		return fmt.Errorf("the node is %q: %s", later.status.State, later.status.LastError)
	}
	if s.lease != "" && s.lease != later.lease {
		return fmt.Errorf("the address was %s, and is %q", s.lease, later.lease)
	}
	if !strings.HasPrefix(later.log, s.log) {
		return fmt.Errorf("the log had %d bytes, and has %d others: %q", len(s.log), len(later.log), later.log)
	}
	again := slices.IndexFunc(later.status.BootStages, func(l nodeapi.Stage) bool { return l.At.After(s.at) })
	for _, stage := range s.status.BootStages {
		if stage.At.After(s.at.Add(-stageKept)) || again == 0 { // not yet written, or another boot has begun
			continue
		}
		if !slices.Contains(later.status.BootStages, stage) {
			return fmt.Errorf("the boot stage %v is lost, of %v is left %v", stage, s.status.BootStages, later.status.BootStages)
		}
	}
	return nil
}

// neverFailed reads the errors of a node's life.
func (v *victim) neverFailed(ctx context.Context) error {
	var all struct {
		History []struct {
			Severity string `json:"severity"`
			Event    string `json:"event"`
		} `json:"history"`
	}
	if err := v.Call(ctx, http.MethodGet, "/v1/nodes/"+v.machine.Name+"/history", nil, &all); err != nil {
		return err
	}
	for _, e := range all.History {
		if e.Severity == "ERROR" {
			return fmt.Errorf("its history has an error: %s", e.Event)
		}
	}
	return nil
}
