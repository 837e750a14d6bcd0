package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/rootdevice"
)

// instanceChecks are the checks of instance_info, by deploy interface.
var instanceChecks = map[string]func(node.Node) error{
	"fake":         nothingNeeded,
	"noop":         nothingNeeded,
	"custom-agent": all(hintsReadable, secureBootUnasked, capabilitiesFit),
	"direct":       all(hasImage, layoutFits, hintsReadable, secureBootUnasked, capabilitiesFit),
	"ramdisk":      all(hasRamdisk, secureBootUnasked, capabilitiesFit),
}

// CheckInstance refuses a deploy that cannot succeed, before anything is
// changed.
func CheckInstance(n node.Node) error {
	name := n.DeployInterface()
	check, ok := instanceChecks[name]
	if !ok {
		return node.Refuse(node.Invalid,
			"node %s has deploy interface %q, which is not built into this release; set deploy_interface to direct, "+
				"ramdisk, custom-agent, autodetect or noop", n.UUID, name)
	}
	err := check(n)
	if err != nil && n.Autodetects() {
		return node.Refuse(node.Invalid, "deploy interface autodetect finds %s by instance_info: %v", name, err)
	}
	return err
}

func instanceComplete(d *decision, _ Request) error { return CheckInstance(d.n) }

func nothingNeeded(node.Node) error { return nil }

func all(checks ...func(node.Node) error) func(node.Node) error {
	return func(n node.Node) error {
		for _, check := range checks {
			if err := check(n); err != nil {
				return err
			}
		}
		return nil
	}
}

// hintsReadable refuses unreadable root device hints, before a ramdisk is booted and finds that out.
func hintsReadable(n node.Node) error {
	if _, err := rootdevice.WishOf(nil, n.InstanceInfo, n.Properties); err != nil {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: the root device hints are wrong: %v", n.UUID, err)
	}
	return nil
}

// hasRamdisk requires an ISO, or a kernel with its ramdisk. They are URLs: a path on the conductor's own disk would be
// served to any client on the machines' network.
func hasRamdisk(n node.Node) error {
	keys := []string{"boot_iso"}
	if text(n.InstanceInfo, "boot_iso") == "" {
		keys = []string{"kernel", "ramdisk"}
	}
	if RamdiskSource(n) != "" {
		return nil
	}
	for _, key := range keys {
		switch at := text(n.InstanceInfo, key); {
		case at == "":
			return node.Refuse(node.Invalid,
				"node %s cannot be deployed: deploy interface ramdisk needs instance_info/boot_iso, or kernel and "+
					"ramdisk, as http(s) URLs, image:NAME or UUIDs of Glance, or image_source, an image of Glance with the "+
					"properties kernel_id and ramdisk_id", n.UUID)
		case node.KeptImage(at):
		case !strings.HasPrefix(at, "http://") && !strings.HasPrefix(at, "https://"):
			return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/%s is %q, expected an "+
				"http(s) URL, image:NAME or the UUID of an image of Glance", n.UUID, key, at)
		case WithPassword(at):
			return node.Refuse(node.Invalid,
				"node %s cannot be deployed: the URL in instance_info/%s holds a user or password, which the boot "+
					"script would show on the machine's network and console: serve it without", n.UUID, key)
		}
	}
	return nil
}

// RamdiskSource is the image in Glance with properties that name the kernel and the ramdisk of a node; "" for none. As
// in Ironic they count unless instance_info has both.
func RamdiskSource(n node.Node) string {
	at := text(n.InstanceInfo, "image_source")
	if n.DeployInterface() != "ramdisk" || text(n.InstanceInfo, "boot_iso") != "" || node.GlanceImage(at) == "" ||
		text(n.InstanceInfo, "kernel") != "" && text(n.InstanceInfo, "ramdisk") != "" {
		return ""
	}
	return at
}

// askedImage is the image in a deploy request; "" for none. It comes from image_source, which Nova writes: a user of
// the whole system may deploy any image. boot_iso, kernel and ramdisk may be written by an owner.
func askedImage(n node.Node) string {
	return cmp.Or(ImageSource(n), RamdiskSource(n))
}

// imageTaken is sameImage, and records the known facts of a deploy's images.
func imageTaken(d *decision, r Request) error {
	if err := sameImage(d.n, r); err != nil {
		return err
	}
	if r.Image != nil {
		d.n = WithImage(d.n, *r.Image)
	}
	d.n = noteImages(d.n, r.Project, d.now)
	return nil
}

// sameImage refuses a deploy if the node's image of Glance differs from the image that was looked up. It was edited in
// between, perhaps by a user without access to the new image. A deploy by a user of the whole system must not give them
// that image.
func sameImage(n node.Node, r Request) error {
	asked := node.GlanceImage(askedImage(n))
	if r.Image == nil || r.Image.Source == asked {
		return nil
	}
	return node.Refuse(node.Conflict, "node %s is not deployed: its image was %q when the deploy was requested, and "+
		"is %q now: check instance_info, and repeat the request", n.UUID, r.Image.Source, asked)
}

// noteImages keeps for which project's deploy the images of Glance that an instance boots were judged, and when it
// began, for later boots.
func noteImages(n node.Node, project string, now time.Time) node.Node {
	n.DriverInternalInfo = maps.Clone(n.DriverInternalInfo)
	delete(n.DriverInternalInfo, node.InstanceImages)
	if n.DeployInterface() != "ramdisk" {
		return n
	}
	sources := []string{text(n.InstanceInfo, "boot_iso")}
	if sources[0] == "" {
		kernel, ramdisk := bootFiles(n)
		sources = []string{kernel, ramdisk}
	}
	if !slices.ContainsFunc(sources, node.KeptImage) {
		return n
	}
	images := []any{}
	for _, source := range sources {
		if id := node.GlanceImage(source); id != "" {
			images = append(images, id)
		}
	}
	if n.DriverInternalInfo == nil {
		n.DriverInternalInfo = map[string]any{}
	}
	n.DriverInternalInfo[node.InstanceImages] = map[string]any{"project": project, "images": images,
		"since": now.UTC().Format(time.RFC3339Nano)}
	return n
}

// bootFiles returns the kernel and the ramdisk that a node boots, including those that the properties of its image
// name.
func bootFiles(n node.Node) (kernel, ramdisk string) {
	source := node.GlanceImage(RamdiskSource(n))
	if source == "" {
		return text(n.InstanceInfo, "kernel"), text(n.InstanceInfo, "ramdisk")
	}
	noted, _ := n.DriverInternalInfo[node.ImageBootFiles].(map[string]any)
	if text(noted, "image") != source { // it may have been edited since
		return "", ""
	}
	return text(noted, "kernel"), text(noted, "ramdisk")
}

// NamedISO is the ISO image that a node boots by its name, image:NAME, or UUID in Glance; "" for none.
func NamedISO(n node.Node) string {
	at := text(n.InstanceInfo, "boot_iso")
	if n.DeployInterface() != "ramdisk" || !node.KeptImage(at) {
		return ""
	}
	return at
}

// NamedFile is a kernel or ramdisk by its name, image:NAME, or UUID in Glance, and the field that names it. Of is the
// node as that field sees it.
type NamedFile struct {
	Field, Source string
	Of            node.Node
}

// NamedBootFiles returns the kernels and ramdisks that a deploy of a node boots by their names: for the agent, and for
// the workload.
func NamedBootFiles(n node.Node) (named []NamedFile) {
	add := func(of node.Node, field, at string) {
		if node.KeptImage(at) {
			named = append(named, NamedFile{field, at, of})
		}
	}
	if text(n.DriverInfo, "deploy_kernel") != "" && text(n.DriverInfo, "deploy_ramdisk") != "" {
		add(n.OfOwner(), "driver_info/deploy_kernel", text(n.DriverInfo, "deploy_kernel"))
		add(n.OfOwner(), "driver_info/deploy_ramdisk", text(n.DriverInfo, "deploy_ramdisk"))
	}
	if n.DeployInterface() == "ramdisk" && text(n.InstanceInfo, "boot_iso") == "" {
		of, suffix := "instance_info/", ""
		if RamdiskSource(n) != "" {
			of, suffix = "instance_info/image_source, its property ", "_id"
		}
		kernel, ramdisk := bootFiles(n)
		add(n, of+"kernel"+suffix, kernel)
		add(n, of+"ramdisk"+suffix, ramdisk)
	}
	return named
}

// InstanceBoot holds the files that a machine boots from the network as its workload.
type InstanceBoot struct {
	ISO             string // URL, image:NAME or UUID in Glance of an ISO, instead of the others
	Kernel, Ramdisk string // the same
	Cmdline         string
}

// BootsInstance returns the files of a network boot of n if its instance is a ramdisk (deploy interface ramdisk). ok is
// false if it is not, or if the machine must not run its instance now.
func BootsInstance(n node.Node) (boot InstanceBoot, ok bool) {
	if n.DeployInterface() != "ramdisk" || WantsRamdisk(n) || hasRamdisk(n) != nil { // it may have been edited since
		return boot, false
	}
	switch n.ProvisionState {
	case node.Deploying, node.Active, node.Servicing, node.Unrescuing:
	default:
		return boot, false
	}
	boot = InstanceBoot{ISO: text(n.InstanceInfo, "boot_iso"), Cmdline: text(n.InstanceInfo, "ramdisk_kernel_arguments")}
	if boot.ISO == "" {
		boot.Kernel, boot.Ramdisk = bootFiles(n)
	}
	return boot, boot.ISO != "" || boot.Kernel != ""
}
