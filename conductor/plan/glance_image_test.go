package plan_test

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

const glanceID = "7ed467d4-83b0-41a7-bc15-c404edccff98"

// TestGlanceImage: an image by its UUID needs nothing else in instance_info; Glance sets its type.
func TestGlanceImage(t *testing.T) {
	n := node.Node{UUID: "n", Interfaces: map[string]string{"deploy": "direct"}, InstanceInfo: map[string]any{}}
	for source, want := range map[string]bool{
		glanceID: true, strings.ToUpper(glanceID): true, "glance://" + glanceID: true, "glance://x": false,
		strings.ReplaceAll(glanceID, "-", ""): false, glanceID + "/..": false, glanceID + "\n": false,
	} {
		n.InstanceInfo["image_source"] = source
		if err := plan.CheckInstance(n); (err == nil) != want || plan.FoundByConductor(source) != want {
			t.Errorf("%q: %v, found by the conductor %t", source, err, plan.FoundByConductor(source))
		}
	}
	n.InstanceInfo["image_source"] = glanceID
	for kind, want := range map[string]bool{"": false, "whole-disk": false, "partition": true} {
		found := plan.WithImage(n, node.ImageFound{Type: kind})
		if got := plan.IsPartitionImage(found); got != want {
			t.Errorf("%q: a partition image %t", kind, got)
		}
		if err := plan.CheckInstance(found); (err != nil) != want {
			t.Errorf("%q without root_gb: %v", kind, err)
		}
	}
	if n.DriverInternalInfo != nil {
		t.Error("the node was changed in place")
	}
	partition := plan.WithImage(n, node.ImageFound{Type: "partition"})
	partition.InstanceInfo = map[string]any{"image_source": glanceID, "image_type": "whole-disk"}
	if plan.IsPartitionImage(partition) {
		t.Error("image_type of instance_info is not obeyed")
	}
	partition.InstanceInfo = map[string]any{"image_source": "http://h/i"}
	if plan.IsPartitionImage(partition) {
		t.Error("an image at a URL has the type of the one before")
	}
}

// TestGlanceRamdisk: the deploy interface ramdisk boots an ISO from Glance, or the kernel and the ramdisk that an
// image's properties name. The latter do not count if instance_info has both.
func TestGlanceRamdisk(t *testing.T) {
	const kernel, ramdisk = "11111111-2222-4333-8444-000000000001", "11111111-2222-4333-8444-000000000002"
	found := node.ImageFound{Kernel: kernel, Ramdisk: ramdisk}
	for name, tc := range map[string]struct {
		info  map[string]any
		asked string // UUID that the deploy is judged by
		boot  plan.InstanceBoot
		files int // that have to be there
	}{
		"ISO": {map[string]any{"boot_iso": glanceID}, "", plan.InstanceBoot{ISO: glanceID}, 0},
		"ISO before all": {map[string]any{"boot_iso": "glance://" + glanceID, "image_source": kernel, "kernel": kernel},
			"", plan.InstanceBoot{ISO: "glance://" + glanceID}, 0},
		"properties": {map[string]any{"image_source": glanceID}, glanceID,
			plan.InstanceBoot{Kernel: kernel, Ramdisk: ramdisk}, 2},
		"one of both": {map[string]any{"image_source": glanceID, "kernel": "http://h/k"}, glanceID,
			plan.InstanceBoot{Kernel: kernel, Ramdisk: ramdisk}, 2},
		"both": {map[string]any{"image_source": glanceID, "kernel": ramdisk, "ramdisk": "http://h/r"}, "",
			plan.InstanceBoot{Kernel: ramdisk, Ramdisk: "http://h/r"}, 1},
	} {
		n := node.Node{UUID: "n", ProvisionState: node.Active, Interfaces: map[string]string{"deploy": "ramdisk"},
			InstanceInfo: tc.info}
		if err := plan.CheckInstance(n); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := plan.DeployFor(n, "blue"); got.Image != tc.asked {
			t.Errorf("%s: judged by %q, expected %q", name, got.Image, tc.asked)
		}
		n = plan.WithImage(n, found)
		if boot, ok := plan.BootsInstance(n); !ok || boot != tc.boot {
			t.Errorf("%s: %+v, %t; expected %+v", name, boot, ok, tc.boot)
		}
		if files := plan.NamedBootFiles(n); len(files) != tc.files {
			t.Errorf("%s: %v have to be there", name, files)
		}
	}
	lent := node.Node{Lessee: "red", DriverInfo: map[string]any{"deploy_kernel": "image:k", "deploy_ramdisk": "image:r"},
		Interfaces: map[string]string{"deploy": "ramdisk"}, InstanceInfo: map[string]any{"kernel": "image:own"}}
	for _, file := range plan.NamedBootFiles(lent) {
		if own := file.Source == "image:own"; (file.Of.Lessee == "red") != own {
			t.Errorf("%s may be of the lessee %q", file.Field, file.Of.Lessee)
		}
	}
	n := plan.WithImage(node.Node{UUID: "n", ProvisionState: node.Active, InstanceInfo: map[string]any{
		"image_source": glanceID}, Interfaces: map[string]string{"deploy": "ramdisk"}}, found)
	n.InstanceInfo = map[string]any{"image_source": kernel}
	if boot, ok := plan.BootsInstance(n); ok {
		t.Errorf("of an image that nobody has found: %+v", boot)
	}
	for _, source := range []string{"http://h/i", "image:a"} {
		n.InstanceInfo = map[string]any{"image_source": source}
		if err := plan.CheckInstance(n); err == nil || !strings.Contains(err.Error(), "kernel_id and ramdisk_id") {
			t.Errorf("%s: %v", source, err)
		}
	}
}
