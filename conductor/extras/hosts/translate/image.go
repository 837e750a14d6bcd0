package translate

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// imageKeys are the keys of instance_info that are an image's: none of them
// outlives it.
var imageKeys = []string{
	"boot_iso", "image_source", "image_disk_format", "image_checksum", "image_os_hash_algo", "image_os_hash_value",
	"image_pull_secret", "image_pull_registry",
}

// LiveISO reports whether a machine runs its image from a virtual drive.
func LiveISO(i *hostapi.Image) bool {
	return i != nil && i.Format != nil && *i.Format == hostapi.LiveISO
}

func oci(i *hostapi.Image) bool { return i != nil && strings.HasPrefix(i.URL, "oci://") }

// CustomMethod is the deploy step of a custom deploy; "" for none.
func CustomMethod(c *hostapi.CustomDeploy) string {
	if c == nil {
		return ""
	}
	return c.Method
}

// SetInstance writes the machine's workload into a node.
func (s Source) SetInstance(n *node.Node, a Access, image *hostapi.Image, custom *hostapi.CustomDeploy) {
	n.InstanceUUID = s.Host.UID
	if n.InstanceInfo == nil {
		n.InstanceInfo = map[string]any{}
	}
	for _, key := range imageKeys {
		delete(n.InstanceInfo, key)
	}
	maps.Copy(n.InstanceInfo, imageInfo(image))
	n.InstanceInfo["capabilities"] = instanceCapabilities(s.Host.Status.Provisioning.BootMode)
	n.InstanceInfo["root_device"] = RootDevice(s.Host.Status.Provisioning.RootDeviceHints)
	SetInterface(n, "deploy", a.deployInterface(image, custom))
}

// deployInterface is the deploy interface for an instance.
func (a Access) deployInterface(image *hostapi.Image, custom *hostapi.CustomDeploy) string {
	switch {
	case a.deploy != "":
		return a.deploy
	case CustomMethod(custom) != "":
		return "custom-agent"
	case LiveISO(image):
		return "ramdisk"
	}
	return "direct"
}

// imageInfo is an image in the words of instance_info.
func imageInfo(image *hostapi.Image) map[string]any {
	switch {
	case image == nil || image.URL == "":
		return nil
	case LiveISO(image):
		return map[string]any{"boot_iso": image.URL}
	}
	info := map[string]any{"image_source": image.URL}
	if image.Format != nil && *image.Format != "" {
		info["image_disk_format"] = *image.Format
	}
	switch {
	case oci(image) || image.Checksum == "":
	case image.ChecksumType == "" || image.ChecksumType == hostapi.ChecksumAuto:
		info["image_checksum"] = image.Checksum
	default:
		info["image_os_hash_algo"], info["image_os_hash_value"] = string(image.ChecksumType), image.Checksum
	}
	return info
}

// RegistryOf is the container registry that an image is in, "" for none.
func RegistryOf(i *hostapi.Image) string {
	if !oci(i) {
		return ""
	}
	registry, _, _ := strings.Cut(strings.TrimPrefix(i.URL, "oci://"), "/")
	return registry
}

// CheckImage refuses an image that cannot be put onto a machine here.
func CheckImage(i *hostapi.Image) error {
	if i == nil || i.Format == nil {
		return nil
	}
	switch *i.Format {
	case "", "raw", "qcow2", hostapi.LiveISO:
		return nil
	default:
		return fmt.Errorf("spec.image.format %s is not written by this conductor: convert the image to raw or qcow2",
			*i.Format)
	}
}

// ImageURL is where an image is; "" for none.
func ImageURL(i *hostapi.Image) string {
	if i == nil {
		return ""
	}
	return i.URL
}
