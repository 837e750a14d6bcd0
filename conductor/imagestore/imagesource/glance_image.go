package imagesource

// GlanceImage is an image as Glance describes it (Image API v2).
type GlanceImage struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Status          string `json:"status"`
	DiskFormat      string `json:"disk_format"`
	ContainerFormat string `json:"container_format"`
	Size            int64  `json:"size"`         // bytes; 0 where there are none yet
	VirtualSize     int64  `json:"virtual_size"` // bytes on a disk; 0 for unknown
	HashAlgo        string `json:"os_hash_algo"`
	HashValue       string `json:"os_hash_value"`
	Checksum        string `json:"checksum"` // MD5
	Owner           string `json:"owner"`    // a project
	Visibility      string `json:"visibility"`

	// The properties that Ironic reads.
	KernelID  string `json:"kernel_id"`
	RamdiskID string `json:"ramdisk_id"`
	Type      string `json:"img_type"` // partition or whole-disk
}

// glanceActive is the status of an image with its bytes uploaded.
const glanceActive = "active"

// Visibilities of images in Glance.
const (
	glancePublic    = "public"
	glanceCommunity = "community"
	glanceShared    = "shared"
)
