package plan

import (
	"fmt"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// deploy writes an image and boots it: deploying -> active. Rebuild is the
// same activity on a node that has an instance already.
type deploy struct{}

func (deploy) steps(d *decision) []node.Step {
	if !agentDeploy(d.n) {
		return nil
	}
	return append(withAgent(d),
		node.Step{Interface: "deploy", Step: "write_image", Priority: 80, InBand: true, Args: writeImageArgs(d.n)},
		step("agent", "install_bootloader", map[string]any{"target_boot_mode": d.n.BootMode}),
		step("agent", "sync", nil),
		step("management", "set_boot_device", map[string]any{"device": "disk", "persistent": true}),
		step("agent", "power_off", nil),
		step("power", "power_off", map[string]any{"grace_seconds": 10}),
		step("power", "power_on", nil),
	)
}

func (deploy) done(d *decision) { d.fire(node.Done) }

// The machine stays as it is, its agent running, for a look at it. The agent
// has wiped the start of a disk it could not write whole, so it cannot boot
// half an image.
func (deploy) fail(d *decision, _ string) { d.fire(node.Fail) }

func (deploy) timeout(s Settings) time.Duration { return s.DeployTimeout }

// writeImageArgs is the args of deploy.write_image as Ironic sends them. The
// config drive is left out here: it may be large, and the engine adds it as
// it sends the step.
func writeImageArgs(n node.Node) map[string]any {
	src := text(n.InstanceInfo, "image_source")
	info := map[string]any{
		"id": src, "urls": []any{src},
		"stream_raw_images": true, "node_uuid": n.UUID,
		"image_type": "whole-disk", "deploy_boot_mode": n.BootMode,
	}
	for key, from := range map[string]string{
		"checksum": "image_checksum", "os_hash_algo": "image_os_hash_algo", "os_hash_value": "image_os_hash_value",
		"disk_format": "image_disk_format", "container_format": "image_container_format",
	} {
		if v := text(n.InstanceInfo, from); v != "" {
			info[key] = v
		}
	}
	return map[string]any{"image_info": info}
}

// CheckInstance refuses a deploy that cannot succeed, before anything is
// changed.
func CheckInstance(n node.Node) error {
	switch n.Interfaces["deploy"] {
	case "fake":
		return nil
	case "direct":
	default:
		return node.Refuse(node.Invalid, "node %s has deploy interface %q, which is not built into this release; set deploy_interface to direct", n.UUID, n.Interfaces["deploy"])
	}
	src := text(n.InstanceInfo, "image_source")
	if src == "" {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_source is missing; set it to the http(s) URL of an image", n.UUID)
	}
	if text(n.InstanceInfo, "image_checksum") == "" && text(n.InstanceInfo, "image_os_hash_value") == "" {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: image %s has no checksum; set instance_info/image_checksum, or image_os_hash_algo and image_os_hash_value", n.UUID, src)
	}
	if text(n.InstanceInfo, "image_os_hash_value") != "" && text(n.InstanceInfo, "image_os_hash_algo") == "" {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_os_hash_value needs image_os_hash_algo (sha256 or sha512)", n.UUID)
	}
	return nil
}

// text reads a string out of a free-form map; other types read as what they
// print.
func text(m map[string]any, key string) string {
	switch v := m[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
