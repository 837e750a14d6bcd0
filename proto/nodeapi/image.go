package nodeapi

import "time"

// ImagesPath is where images that operators have named are.
const ImagesPath = FerriteRoot + "/images"

// MediaBytes is the type of bytes of any meaning.
const MediaBytes = "application/octet-stream"

// States of an image.
const (
	ImageReady   = "ready"
	ImageAdding  = "adding"  // it is being fetched
	ImageFailed  = "failed"  // the transfer failed; it is shown for an hour
	ImageMissing = "missing" // its record is there, its bytes are not
)

// Image is an image that operators have given the conductor under a name.
type Image struct {
	UUID        string         `json:"uuid"`
	Name        string         `json:"name"`
	State       string         `json:"state"`
	Error       string         `json:"error,omitempty"`       // why it has failed
	Format      string         `json:"format,omitempty"`      // raw, qcow2, iso, kernel or ramdisk
	Compression string         `json:"compression,omitempty"` // gzip, zstd or xz around it
	Size        int64          `json:"size"`                  // bytes; 0 for not known yet
	VirtualSize int64          `json:"virtual_size"`          // bytes on a disk; 0 for unknown
	Digest      string         `json:"digest,omitempty"`      // sha256:hex
	Checksum    string         `json:"checksum,omitempty"`    // that it was verified by
	Source      string         `json:"source,omitempty"`      // URL without credentials; absent for an upload
	Owner       string         `json:"owner,omitempty"`       // project; absent for all nodes
	CreatedBy   string         `json:"created_by,omitempty"`
	CreatedAt   time.Time      `json:"created_at"`
	Conductor   string         `json:"conductor,omitempty"` // that has its bytes
	Progress    *ImageProgress `json:"progress,omitempty"`  // of an image that is being added
}

// ImageProgress is how far an image is, in bytes; a total of 0 is unknown.
type ImageProgress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// Images is a list of images.
type Images struct {
	Images []Image `json:"images"`
}

// NewImage is the body of POST /ferrite/v1/images.
type NewImage struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	Checksum string `json:"checksum,omitempty"` // sha256: or sha512: and hex; absent: any bytes are taken
	Owner    string `json:"owner,omitempty"`
}
