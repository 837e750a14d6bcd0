package node

import "slices"

// ImageBootFiles is where driver_internal_info keeps the kernel and the ramdisk that the properties of an image name,
// as long as there is the instance.
const ImageBootFiles = "image_boot_files"

// InstanceImages is where driver_internal_info keeps, as long as there is the instance, which images of Glance the
// instance boots, which project's deploy they were judged for, and when that began.
const InstanceImages = "instance_images"

// ImageNamer returns the project of the image with properties that name image as the kernel or ramdisk of n; ok is
// false if there is none.
func (n *Node) ImageNamer(image string) (project string, ok bool) {
	noted, _ := n.DriverInternalInfo[ImageBootFiles].(map[string]any)
	if noted["kernel"] != image && noted["ramdisk"] != image {
		return "", false
	}
	project, ok = noted["owner"].(string) // releases before did not keep it
	return project, ok
}

// ImageDeployer is the project that has deployed n with an image of Glance that it boots; "" for none, and for the
// whole system.
func (n *Node) ImageDeployer(image string) string {
	noted, _ := n.DriverInternalInfo[InstanceImages].(map[string]any)
	images, _ := noted["images"].([]any)
	if !slices.Contains(images, any(image)) {
		return ""
	}
	project, _ := noted["project"].(string)
	return project
}

// ImagesSince says when the deploy of an instance that boots images began; "" where that was not kept.
func (n *Node) ImagesSince() string {
	noted, _ := n.DriverInternalInfo[InstanceImages].(map[string]any)
	since, _ := noted["since"].(string)
	return since
}
