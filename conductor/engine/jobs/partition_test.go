package jobs_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// divided gives a node an image of a partition.
func divided(w *enginetest.World, id string, more map[string]any) {
	w.T.Helper()
	if _, err := w.E.UpdateNode(w.Ctx, id, func(n *node.Node) error {
		n.InstanceInfo = map[string]any{"image_source": "http://images/root.raw", "image_checksum": "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff",
			"image_type": "partition", "root_gb": 10.0}
		for k, v := range more {
			n.InstanceInfo[k] = v
		}
		return nil
	}); err != nil {
		w.T.Fatal(err)
	}
}

// TestPartitionImage: the agent's report of the partitions gets to the boot loader and is kept, until the instance is
// gone. An image without an image type is recognised by the kernel beside it, as in Ironic.
func TestPartitionImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		id := deployable(w, "http://images/root.raw")
		for _, more := range []map[string]any{nil, {"image_type": nil, "kernel": "http://images/vmlinuz"}} {
			divided(w, id, more)
			n := w.Ask(id, node.Deploy, node.Active)
			root := "root-of-" + id[:8]
			want := map[string]any{"root_uuid": root, "efi_system_part_uuid": "1234-ABCD", "prep_boot_part_uuid": nil,
				"target_boot_mode": "uefi"}
			if diff := cmp.Diff(want, w.Machine(id).Boots); diff != "" {
				t.Errorf("install_bootloader (-want +got)\n%s", diff)
			}
			if n.DriverInternalInfo["root_uuid_or_disk_id"] != root || n.DriverInternalInfo["is_whole_disk_image"] != false {
				t.Errorf("driver_internal_info is %v", n.DriverInternalInfo)
			}
			n = w.Ask(id, node.Delete, node.Available)
			if n.DriverInternalInfo["root_uuid_or_disk_id"] != nil {
				t.Errorf("without an instance driver_internal_info is %v", n.DriverInternalInfo)
			}
		}
	})
}

// TestWholeDiskAfterPartition: of an instance that was rebuilt with an image of a
// whole disk no partitions are known any more.
func TestWholeDiskAfterPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := enginetest.New(t, 1)
		w.Start()
		defer w.Close()
		id := deployable(w, "http://images/root.raw")
		divided(w, id, map[string]any{"ephemeral_gb": 1.0})
		w.Ask(id, node.Deploy, node.Active)
		divided(w, id, map[string]any{"ephemeral_gb": 1.0, "image_type": "whole-disk"})
		n := w.Ask(id, node.Rebuild, node.Active)
		for _, key := range []string{"is_whole_disk_image", "root_uuid_or_disk_id", "instance"} {
			if v := n.DriverInternalInfo[key]; v != nil {
				t.Errorf("driver_internal_info/%s is %v", key, v)
			}
		}
	})
}

// TestPartitionImageByBIOS: programs of images are run where the operator says so.
func TestPartitionImageByBIOS(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := enginetest.New(t, 1)
			w.Settings.BIOSBootloader = allowed
			w.Start()
			defer w.Close()
			id := deployable(w, "http://images/root.raw")
			divided(w, id, map[string]any{"capabilities": "boot_mode:bios"})
			if allowed {
				w.Ask(id, node.Deploy, node.Active)
				boots, _ := w.Machine(id).Boots.(map[string]any)
				if boots["target_boot_mode"] != "bios" || boots["efi_system_part_uuid"] != nil {
					t.Errorf("install_bootloader %v", boots)
				}
				return
			}
			err := w.E.Provision(w.Ctx, id, plan.Request{Verb: node.Deploy})
			if err == nil || !strings.Contains(err.Error(), "--enable-bios-bootloader-install") {
				t.Errorf("a deploy that cannot boot: %v", err)
			}
		})
	}
}
