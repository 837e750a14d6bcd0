package interop

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// The agent's report on the partitions it has made.
const (
	ipaRoot = "0b1f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	ipaESP  = "2B7C-91D0"
)

// ipaPartition is an instance with an image of a partition. ipaLayout is the layout that the agent must get for it. It
// has every parameter that the agent reads without a check for its presence.
var (
	ipaPartition = map[string]any{
		"image_source": "http://192.0.2.1/root.qcow2", "image_disk_format": "qcow2", "image_type": "partition",
		"image_os_hash_algo": "sha256", "image_os_hash_value": strings.Repeat("cd", 32),
		"root_gb": "20", "swap_mb": 1024, "ephemeral_gb": 5, "preserve_ephemeral": "false",
		"capabilities": `{"disk_label": "gpt"}`,
	}
	ipaLayout = map[string]any{
		"image_type": "partition", "root_mb": 20480.0, "swap_mb": 1024.0, "ephemeral_mb": 5120.0, "ephemeral_format": "ext4",
		"preserve_ephemeral": false, "deploy_boot_mode": "uefi", "boot_option": "local", "disk_label": "gpt",
	}
)

// divide looks at how the disk is to be divided, if it is.
func (a *ipaAgent) divide(raw json.RawMessage) error {
	var info map[string]any
	if err := json.Unmarshal(raw, &info); err != nil {
		return err
	}
	divided := info["image_type"] == "partition"
	a.mu.Lock()
	a.partitions = divided
	a.mu.Unlock()
	if !divided {
		return nil
	}
	if size, _ := info["ephemeral_mb"].(float64); size > 0 && info["ephemeral_format"] == nil {
		return fmt.Errorf("mkfs of the ephemeral partition: its file system is None") // the agent has no default
	}
	maps.DeleteFunc(info, func(key string, _ any) bool {
		return slices.Contains([]string{"id", "urls", "os_hash_algo", "os_hash_value", "disk_format", "stream_raw_images",
			"node_uuid", "configdrive"}, key)
	})
	if diff := cmp.Diff(ipaLayout, info); diff != "" {
		return fmt.Errorf("image_info of a partition image (-want +got):\n%s", diff)
	}
	return nil
}

// partitionUUIDs are the UUIDs of the partitions made on the disk.
func (a *ipaAgent) partitionUUIDs(map[string]json.RawMessage) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.partitions {
		return nil, fmt.Errorf("asked for the partitions of an image that brings its own")
	}
	return map[string]any{
		"root uuid": ipaRoot, "efi system partition uuid": ipaESP,
		"partitions": map[string]any{"efi system partition": "/dev/vda1", "ephemeral": "/dev/vda2", "swap": "/dev/vda3",
			"configdrive": "/dev/vda4", "root": "/dev/vda5"},
	}, nil
}

// bootParams are the expected parameters of the boot loader's installation.
func (a *ipaAgent) bootParams() map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	want := map[string]any{"root_uuid": "0x00000000", "efi_system_part_uuid": nil, "prep_boot_part_uuid": nil,
		"target_boot_mode": "uefi"}
	if a.partitions {
		want["root_uuid"], want["efi_system_part_uuid"] = ipaRoot, ipaESP
	}
	return want
}
