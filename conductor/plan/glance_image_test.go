package plan_test

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

const glanceID = "7ed467d4-83b0-41a7-bc15-c404edccff98"

// TestGlanceImage: an image by its UUID needs nothing else in instance_info; its type is what Glance says of it.
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
