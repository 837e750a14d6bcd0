package node

// ImageFound holds the conductor's findings about an image before a deploy.
type ImageFound struct {
	Gone  string // the server's refusal, which agents would get as well, and a remedy; "" for none
	Doubt string // why the image could not be seen, or not all of it; "" for nothing
	ISO   string // the refusal of an ISO image, unless image_disk_format says that it is a disk's; "" for any other
	Size  int64  // bytes it has on a disk, unpacked; 0 when unknown
	// Unseen: none of its bytes were seen, and Doubt has the reason.
	Unseen bool
	Type   string // whole-disk or partition, where a catalogue says so; "" for unknown

	Kernel, Ramdisk string // UUIDs in Glance of the files to boot, if the properties of the image name them
	Owner           string // project of the image that names them; it must have them, too
	Source          string // UUID in Glance of the image that was looked for; "" for none
}
