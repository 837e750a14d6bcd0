package bootpolicy_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/pxe"
)

// lostImages finds none, and counts how often it was asked.
type lostImages struct{ asked *int }

func (l lostImages) ISOURL(context.Context, node.Node, string) (string, error) {
	*l.asked++
	return "", errors.New("no answer from Glance")
}

func (l lostImages) BootFile(context.Context, node.Node, string) (string, error) {
	*l.asked++
	return "", errors.New("no answer from Glance")
}

// TestAddressNeedsNoImage: a machine gets its address and its boot loader even if its images are lost. No request for
// an address looks for an image. The script and the files need it.
func TestAddressNeedsNoImage(t *testing.T) {
	hw, _ := net.ParseMAC(mac)
	workload := func(info map[string]any) node.Node {
		return node.Node{ProvisionState: node.Active, Interfaces: map[string]string{"deploy": "ramdisk"}, InstanceInfo: info}
	}
	agent := booting("clean", "agent.wait_for_heartbeat")
	agent.DriverInfo = map[string]any{"deploy_kernel": "image:vmlinuz", "deploy_ramdisk": "image:initrd"}
	for name, tc := range map[string]struct {
		n    node.Node
		want pxe.Action
	}{
		"ISO": {workload(map[string]any{"boot_iso": "7ed467d4-83b0-41a7-bc15-c404edccff98"}), pxe.Image},
		"kernel": {workload(map[string]any{"kernel": "7ed467d4-83b0-41a7-bc15-c404edccff98", "ramdisk": "image:initrd"}),
			pxe.Ramdisk},
		"agent": {agent, pxe.Ramdisk},
	} {
		asked := 0
		p := policy(t, tc.n, node.Port{PXEEnabled: true})
		p.Images = lostImages{&asked}
		for _, c := range []pxe.Client{{MAC: hw, Firmware: pxe.System}, {MAC: hw, Firmware: pxe.UEFI}} {
			if b, err := p.Boot(t.Context(), c); err != nil || b.Action != tc.want || asked != 0 {
				t.Errorf("%s, %s: %+v, %v; images were asked for %d times", name, c.Firmware, b, err, asked)
			}
		}
		if b, err := p.Boot(t.Context(), pxe.Client{MAC: hw, Files: true}); err == nil || asked != 1 {
			t.Errorf("%s: files are %+v, images were asked for %d times", name, b, asked)
		}
	}
}
