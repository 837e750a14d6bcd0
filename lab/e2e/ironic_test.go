package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/ironic"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// foreign is a machine with OpenStack Ironic as its conductor.
type foreign struct {
	*bed
	site      *site.Site
	machine   *lab.Machine
	ironic    *ironic.Ironic
	addresses *ironic.Addresses // nil without DHCP
	more      map[string]any    // of the node; its driver_info is merged
}

// stage is a part of a machine's life under Ironic.
type stage struct {
	name   string
	run    func(context.Context) error
	figure *time.Duration
}

// ironicLife lets Ironic take a machine through its life with our ramdisk.
func ironicLife(ctx context.Context, b *bed) error {
	f := &foreign{bed: b}
	return f.under(ctx, machine("metal-1", qemu.UEFI), f.boot, []stage{
		{"enroll", f.enroll, nil},
		{"inspect", f.inspect, &f.figures.inspect},
		{"clean", f.clean, &f.figures.clean},
		{"deploy", f.deploy, &f.figures.deploy},
		{"rescue", f.rescue, nil},
		{"unrescue", f.unrescue, nil},
		{"undeploy", f.undeploy, &f.figures.undeploy},
	})
}

// under lets Ironic take a machine through stages. The disk has an OS at the start, so that cleaning has something to
// do. serve starts the services that Ironic leaves to others.
func (f *foreign) under(ctx context.Context, spec qemu.Spec, serve func(context.Context) (func() error, error),
	life []stage) (err error) {
	b := f.bed
	peer := func(ctx context.Context, l *lab.Lab) (*exec.Cmd, error) {
		f.ironic = ironic.New(l, filepath.Join(b.dir, "ironic"), site.APIPort)
		return f.ironic.Command(ctx)
	}
	spec.MemoryMB = 1024 // Ironic reads whole gigabytes from a BMC, and takes 0 for silence
	s, done, err := b.siteOf(ctx, []qemu.Spec{spec}, site.Config{Peer: peer})
	if err != nil {
		return err
	}
	// Ironic may take a minute to end by itself. Its data go with the lab.
	defer func() { err = errors.Join(err, s.Conductor.Kill(), done()) }()
	f.site, f.machine = s, s.Machines[0]
	stop, err := serve(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := install(b.tiny.Raw, f.machine); err != nil {
		return err
	}
	return f.live(ctx, life)
}

// offerRamdisk puts our ramdisk where Ironic and machines fetch it.
func (f *foreign) offerRamdisk() error {
	return errors.Join(copyFile(f.kernel, filepath.Join(f.images, "kernel")),
		copyFile(f.initrd, filepath.Join(f.images, "initramfs")))
}

// boot starts the services for the machine's boots.
func (f *foreign) boot(ctx context.Context) (stop func() error, err error) {
	if err := f.offerRamdisk(); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(f.dir, "boot.log"))
	if err != nil {
		return nil, err
	}
	var serving func() error
	f.addresses, serving, err = f.ironic.Boot(ctx,
		slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return func() error { return errors.Join(serving(), log.Close()) }, nil
}

// live is the machine's life, stage by stage.
func (f *foreign) live(ctx context.Context, life []stage) error {
	for _, stage := range life {
		start := time.Now()
		if err := stage.run(ctx); err != nil {
			return fmt.Errorf("%s: %w; the console's last lines:\n%s", stage.name, err, lastLines(f.machine))
		}
		took := time.Since(start)
		say("%s: %s in %.1f s", f.name, stage.name, took.Seconds())
		if stage.figure != nil {
			f.figures.set(stage.figure, took)
		}
	}
	return nil
}

// enroll creates the node without ports: these are the inspection's to find.
func (f *foreign) enroll(ctx context.Context) error {
	kernel, ramdisk := f.site.ImagesURL+"/kernel", f.site.ImagesURL+"/initramfs"
	info := map[string]any{
		"redfish_address": f.machine.URL, "redfish_username": f.machine.Username, "redfish_password": f.machine.Password,
		"deploy_kernel": kernel, "deploy_ramdisk": ramdisk, "rescue_kernel": kernel, "rescue_ramdisk": ramdisk,
	}
	body := map[string]any{"name": f.machine.Name, "driver": "redfish", "driver_info": info}
	for key, value := range f.more {
		if of, ok := value.(map[string]any); ok && key == "driver_info" {
			maps.Copy(info, of)
			continue
		}
		body[key] = value
	}
	if err := f.site.Call(ctx, http.MethodPost, "/v1/nodes", body, nil); err != nil {
		return err
	}
	_, err := f.site.Ask(ctx, f.machine.Name, "manage", "manageable")
	return err
}

// inspect is Ironic's own, by the BMC.
func (f *foreign) inspect(ctx context.Context) error {
	n, err := f.site.Ask(ctx, f.machine.Name, "inspect", "manageable")
	if err != nil {
		return err
	}
	if n.Properties["cpu_arch"] != "x86_64" || n.Properties["memory_mb"] == nil {
		return fmt.Errorf("properties are %v", n.Properties)
	}
	var found struct {
		Ports []struct{ Address string }
	}
	if err := f.site.Call(ctx, http.MethodGet, "/v1/ports?node="+f.machine.Name, nil, &found); err != nil {
		return err
	}
	if want := f.machine.Spec().NICs[0].MAC; len(found.Ports) != 1 || found.Ports[0].Address != want {
		return fmt.Errorf("ports %v, expected one of %s", found.Ports, want)
	}
	return nil
}

// clean is the first boot of the ramdisk.
func (f *foreign) clean(ctx context.Context) error {
	if _, err := f.site.Ask(ctx, f.machine.Name, "provide", "available"); err != nil {
		return err
	}
	return bootsNothing(f.machine)
}

func (f *foreign) deploy(ctx context.Context) error {
	i := image(f.site, f.tiny, f.tiny.Qcow2)
	i.Format = "qcow2"
	if err := deploy(ctx, f.site, f.machine, i, "first", "host-one"); err != nil {
		return err
	}
	return f.collected()
}

// collected wants Ironic to have asked the agent for its logs and kept them.
func (f *foreign) collected() error {
	archives, err := filepath.Glob(filepath.Join(f.ironic.Dir, "deploy-logs", "*.tar.gz"))
	if err != nil {
		return err
	}
	if len(archives) == 0 {
		return errors.New("ironic has kept no logs of the agent")
	}
	out, err := exec.Command("tar", "-tzf", archives[0]).CombinedOutput()
	if err != nil || len(out) == 0 {
		return fmt.Errorf("the agent's logs in %s: %w: %s", archives[0], err, out)
	}
	return nil
}

// rescue boots the ramdisk again and logs into it.
func (f *foreign) rescue(ctx context.Context) error {
	const password = "let me in, please"
	body := nodeapi.Provision{Target: "rescue", RescuePassword: password}
	if err := f.site.Call(ctx, http.MethodPut, "/v1/nodes/"+f.machine.Name+"/states/provision", body, nil); err != nil {
		return err
	}
	if _, err := f.site.Until(ctx, f.machine.Name, "rescue"); err != nil {
		return err
	}
	address, err := f.addresses.Of(f.machine.Spec().NICs[0].MAC)
	if err != nil {
		return err
	}
	_, err = logsIn(ctx, f.site, address.String(), password)
	return err
}

func (f *foreign) unrescue(ctx context.Context) error {
	ramdisk := starts(f.machine)
	if _, err := f.site.Ask(ctx, f.machine.Name, "unrescue", "active"); err != nil {
		return err
	}
	return osIsUp(ctx, f.machine, ramdisk)
}

// undeploy ends in cleaning, which leaves nothing that boots.
func (f *foreign) undeploy(ctx context.Context) error {
	if _, err := f.site.Ask(ctx, f.machine.Name, "deleted", "available"); err != nil {
		return err
	}
	return bootsNothing(f.machine)
}
