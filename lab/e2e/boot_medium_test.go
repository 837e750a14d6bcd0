package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// mediumStage is the boot stage of a machine that reads its boot medium.
const mediumStage = "boot medium read"

// bootMedium inspects a machine with its ramdisk in the virtual drive, on a bus.
func bootMedium(firmware qemu.Firmware, bus qemu.Bus) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) error {
		m := machine("metal-1", firmware)
		m.CD = bus
		return inspected(ctx, b, m, "redfish-virtual-media", mediumStage)
	}
}

// mediumAlone inspects a machine on a network without any DHCP server: its address is on its medium.
// The drive is empty afterwards.
func mediumAlone(firmware qemu.Firmware) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) (err error) {
		spec := machine("metal-1", firmware)
		spec.NICs[0].OptionROM = false
		s, done, err := b.site(ctx, []qemu.Spec{spec}, "--dhcp", "off")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		m := s.Machines[0]
		err = b.inspectedBy(ctx, s, "vmedia-"+string(firmware), mediumStage, map[string]any{
			"boot_interface": "redfish-virtual-media", "network_data": staticData(s, m, 50)})
		return errors.Join(err, driveIsEmpty(ctx, s, m))
	}
}

// inspectedBy inspects the first machine of a site, which must pass a boot stage, and keeps the time
// from power-on as the figure of a way.
func (b *bed) inspectedBy(ctx context.Context, s *site.Site, way, stage string, more map[string]any) error {
	m := s.Machines[0]
	if _, err := s.Enroll(ctx, m, more); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	for _, verb := range []string{"manage", "inspect"} {
		if _, err := s.Ask(ctx, m.Name, verb, "manageable"); err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
	}
	st, err := s.Status(ctx, m.Name)
	if err != nil {
		return err
	}
	took, err := fromPowerOn(st.BootStages, stage)
	if err != nil {
		return err
	}
	b.laps = append(b.laps, lap{"power-on to data", took})
	b.figures.setWay(way, took)
	return nil
}

// staticData is network_data with one address of the lab's network for a machine's first card.
func staticData(s *site.Site, m *lab.Machine, last byte) map[string]any {
	mask := net.IP(net.CIDRMask(s.Network.Subnet.Bits(), 32)).String()
	return map[string]any{
		"links": []any{map[string]any{"id": "l0", "type": "phy", "ethernet_mac_address": m.Spec().NICs[0].MAC}},
		"networks": []any{map[string]any{"id": "n0", "network_id": "n0", "type": "ipv4", "link": "l0",
			"ip_address": staticAddress(s, last).String(), "netmask": mask,
			"routes": []any{map[string]any{"network": "0.0.0.0", "netmask": "0.0.0.0",
				"gateway": s.Network.Gateway.String()}}}},
		"services": []any{},
	}
}

// staticAddress is one of the lab's network.
func staticAddress(s *site.Site, last byte) netip.Addr {
	a := s.Network.Subnet.Addr().As4()
	a[3] = last
	return netip.AddrFrom4(a)
}

// fromPowerOn is the time from power-on to the first that the conductor hears of the ramdisk. The
// machine must have passed a stage on the way.
func fromPowerOn(stages []nodeapi.Stage, passed string) (time.Duration, error) {
	at := func(name string) time.Time {
		i := slices.IndexFunc(stages, func(s nodeapi.Stage) bool { return s.Name == name })
		if i < 0 {
			return time.Time{}
		}
		return stages[i].At
	}
	on, heard := at("power on"), at("inspection data")
	if on.IsZero() || heard.IsZero() || at(passed).IsZero() {
		return 0, fmt.Errorf("boot stages without power on, %s and inspection data: %v", passed, stages)
	}
	return heard.Sub(on), nil
}

// driveIsEmpty asks the BMC, through the conductor, for the content of its drive.
func driveIsEmpty(ctx context.Context, s *site.Site, m *lab.Machine) error {
	var drives []struct {
		Inserted bool `json:"inserted"`
	}
	if err := s.Call(ctx, http.MethodGet, "/v1/nodes/"+m.Name+"/vmedia", nil, &drives); err != nil {
		return err
	}
	if len(drives) != 1 || drives[0].Inserted {
		return fmt.Errorf("virtual drives after the boot: %+v, expected one that is empty", drives)
	}
	return nil
}

// mediumLife deploys and rescues a machine by its virtual drive.
func mediumLife(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if _, err := s.Enroll(ctx, m, map[string]any{"boot_interface": "redfish-virtual-media",
		"rescue_interface": "agent"}); err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	for _, step := range [][2]string{{"manage", "manageable"}, {"provide", "available"}} {
		if _, err := s.Ask(ctx, m.Name, step[0], step[1]); err != nil {
			return fmt.Errorf("%s: %w", step[0], err)
		}
		b.lap(step[0])
	}
	if err := deploy(ctx, s, m, image(s, b.tiny, b.tiny.Raw), b.tiny.ID, "by-medium"); err != nil {
		return err
	}
	b.lap("deploy")
	body := nodeapi.Provision{Target: "rescue", RescuePassword: "open, please"}
	if err := s.Call(ctx, http.MethodPut, "/v1/nodes/"+m.Name+"/states/provision", body, nil); err != nil {
		return fmt.Errorf("rescue: %w", err)
	}
	if _, err := s.Until(ctx, m.Name, "rescue"); err != nil {
		return fmt.Errorf("rescue: %w", err)
	}
	b.lap("rescue")
	return driveIsEmpty(ctx, s, m)
}

// liveMedium deploys machines with their workload in the virtual drive: an ISO of its own, and an ISO that the
// conductor makes of a kernel and a ramdisk. It stays there over a restart, until the node is undeployed.
func liveMedium(ctx context.Context, b *bed) (err error) {
	if _, err := b.tiny.WriteLive(ctx, filepath.Join(b.images, "live-medium")); err != nil {
		return err
	}
	specs := []qemu.Spec{machine("metal-1", qemu.UEFI), machine("metal-2", qemu.BIOS)}
	for i := range specs {
		specs[i].NICs[0].OptionROM = false
	}
	s, done, err := b.site(ctx, specs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	at := s.ImagesURL + "/live-medium/"
	for i, workload := range []string{
		"--instance-info boot_iso=" + at + "live.iso",
		"--instance-info kernel=" + at + "vmlinuz --instance-info ramdisk=" + at +
			"initramfs --instance-info ramdisk_kernel_arguments=console=ttyS0,115200",
	} {
		m := s.Machines[i]
		if err := b.lives(ctx, s, m, workload, "redfish-virtual-media"); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if err := b.commands(ctx, s, "node undeploy "+m.Name+" --wait"); err != nil {
			return err
		}
		if err := driveIsEmpty(ctx, s, m); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

// stick boots a machine from the image of `ferrite ramdisk iso` on a USB stick: it is discovered.
func stick(firmware qemu.Firmware) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) (err error) {
		plan, err := network.NewPlan(b.labID())
		if err != nil {
			return err
		}
		spec := machine("metal-1", firmware)
		spec.NICs[0].OptionROM, spec.Disks[0].Bus = false, qemu.BusUSB
		s, done, err := b.site(ctx, []qemu.Spec{spec}, "--discovery", "redfish")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		image := filepath.Join(b.dir, "stick.iso")
		out, err := exec.CommandContext(ctx, filepath.Join(b.bin, "ferrite"), "ramdisk", "iso", "--kernel", b.kernel,
			"--initrd", b.initrd, "--api-url", fmt.Sprintf("http://%s:%d", plan.Gateway, site.APIPort), "--discover",
			"--kernel-append", "console=ttyS0,115200", "--out", image).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ferrite ramdisk iso: %w: %s", err, out)
		}
		m := s.Machines[0]
		if err := install(image, m); err != nil {
			return err
		}
		if err := m.Reset(ctx, qemu.ResetOn); err != nil {
			return err
		}
		n, err := turnsUp(ctx, s)
		if err == nil && (n.ProvisionState != "enroll" || n.Properties["cpu_arch"] != "x86_64") {
			err = fmt.Errorf("the discovered node is %+v", n)
		}
		return errors.Join(err, m.Reset(ctx, qemu.ResetForceOff))
	}
}
