package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// inBandMachines have a BMC that their kernel sees.
var inBandMachines = []testCase{
	// Discovered with --bmc-credentials generate: a user made inside the machine logs in over the LAN.
	{"in-band", matrixTime, inBand},
}

// The BMC of such a machine: OpenIPMI's ipmi_sim, with a user of its own.
const (
	simMachine  = "127.0.0.1:9002" // where it waits for its machine, in the lab's network
	simUser     = "admin"
	simPassword = "secret-of-the-sim"
	inBandUser  = "ferrite-inband"
)

// inBand discovers a machine twice. Each time its agent makes the user of the BMC, in the same slot, and the conductor
// logs in as that user by IPMI.
func inBand(ctx context.Context, b *bed) (err error) {
	spec := combination{qemu.BIOS, qemu.BusVirtio, "virtio"}.spec()
	spec.IPMI = simMachine
	s, done, err := b.site(ctx, []qemu.Spec{spec}, "--discovery", "redfish")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := b.startSim(ctx, s); err != nil {
		return err
	}
	if _, err := b.secure(ctx, s, "--bmc-credentials", "generate"); err != nil {
		return err
	}
	m := s.Machines[0]
	for _, part := range []string{"discovered", "discovered again"} {
		if err := b.discoverInBand(ctx, s, m); err != nil {
			return fmt.Errorf("%s: %w; the console's last lines:\n%s", part, err, lastLines(m))
		}
		b.lap(part)
	}
	return nil
}

// startSim starts the BMC, and gives it the address at which it listens.
func (b *bed) startSim(ctx context.Context, s *site.Site) error {
	dir := filepath.Join(b.dir, "sim")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	host, port, _ := strings.Cut(simMachine, ":")
	for name, text := range map[string]string{
		"lan.conf": fmt.Sprintf(`name "in-band"
set_working_mc 0x20
  startlan 1
    addr %s 623
    priv_limit admin
    allowed_auths_admin md5
    guid 33221100554477668899aabbccddeeff
  endlan
  user 2 true "%s" "%s" admin 10 md5
  serial kcs %s %s codec VM
`, s.Network.Gateway, simUser, simPassword, host, port),
		"sim.emu": "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02\nmc_enable 0x20\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	sim := exec.Command("ipmi_sim", "-n", "-c", filepath.Join(dir, "lan.conf"), "-f", filepath.Join(dir, "sim.emu"),
		"-s", dir)
	if _, err := s.Start("ipmi_sim", sim); err != nil {
		return fmt.Errorf("%w (Debian package openipmi is needed)", err)
	}
	set := []string{"raw", "0x0c", "0x01", "0x01", "0x03"} // Set LAN Configuration Parameters: channel 1, IP address
	for _, octet := range s.Network.Gateway.AsSlice() {
		set = append(set, fmt.Sprint(octet))
	}
	for { // until it listens
		_, err := b.ipmitool(ctx, s, set...)
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// ipmitool asks the BMC as its own user.
func (b *bed) ipmitool(ctx context.Context, s *site.Site, args ...string) (string, error) {
	cmd := s.Network.Command(ctx, "ipmitool", append([]string{"-I", "lanplus", "-C", "3", "-N", "1", "-R", "2", "-H",
		s.Network.Gateway.String(), "-U", simUser, "-P", simPassword}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ipmitool %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// inBandNode holds a discovered node's fields about its BMC.
type inBandNode struct {
	State    string         `json:"provision_state"`
	Driver   string         `json:"driver"`
	Info     map[string]any `json:"driver_info"`
	Internal map[string]any `json:"driver_internal_info"`
}

// credentials waits until a node has some.
func credentials(ctx context.Context, s *site.Site, uuid string) (n inBandNode, err error) {
	for {
		n = inBandNode{} // a key that is gone must not stay
		if err := s.Call(ctx, http.MethodGet, "/v1/nodes/"+uuid, nil, &n); err != nil {
			return n, err
		}
		if n.Info["ipmi_username"] != nil {
			return n, nil
		}
		if why := n.Internal["bmc_user_error"]; why != nil {
			return n, fmt.Errorf("no BMC user: %v", why)
		}
		select {
		case <-ctx.Done():
			return n, fmt.Errorf("the node has no credentials, but %v: %w", n.Info, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// discoverInBand switches an unknown machine on, waits for the credentials of its node, has the conductor log in with
// them, and deletes the node.
func (b *bed) discoverInBand(ctx context.Context, s *site.Site, m *lab.Machine) error {
	if err := m.Reset(ctx, qemu.ResetOn); err != nil {
		return err
	}
	found, err := turnsUp(ctx, s)
	if err != nil {
		return err
	}
	n, err := credentials(ctx, s, found.UUID)
	if err != nil {
		return err
	}
	want := map[string]any{"ipmi_address": s.Network.Gateway.String(), "ipmi_username": inBandUser,
		"ipmi_password": "******"}
	if n.Driver != "ipmi" || !maps.Equal(n.Info, want) || n.State != "enroll" {
		return fmt.Errorf("the discovered node is %+v, expected %v", n, want)
	}
	users, err := b.ipmitool(ctx, s, "-c", "user", "list", "1")
	if err != nil {
		return err
	}
	if !strings.Contains(users, "3,"+inBandUser+",") || strings.Count(users, inBandUser) != 1 ||
		!strings.Contains(users, "2,"+simUser+",") {
		return fmt.Errorf("the users of the BMC are:\n%s", users)
	}
	history, err := b.ferrite(ctx, s, "node", "history", found.UUID)
	if err != nil {
		return err
	}
	if !strings.Contains(history, "user "+inBandUser+" made at BMC") {
		return fmt.Errorf("the history is:\n%s", history)
	}
	if err := b.commands(ctx, s, "node manage "+found.UUID+" --wait"); err != nil {
		return fmt.Errorf("log in as the new user: %w", err)
	}
	if err := s.Call(ctx, http.MethodDelete, "/v1/nodes/"+found.UUID, nil, nil); err != nil {
		return err
	}
	return m.Reset(ctx, qemu.ResetForceOff)
}
