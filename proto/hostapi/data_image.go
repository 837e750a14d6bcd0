package hostapi

import (
	"net/url"
	"slices"
)

// DataImage is an image for the virtual CD drive of the host of the same name, beside the host's system. It goes in
// and out while the machine is off, on its way to being on again.
type DataImage struct {
	TypeMeta
	ObjectMeta `json:"metadata" doc:"Metadata that all documents share."`

	Spec   DataImageSpec   `json:"spec" doc:"The image as it is wanted."`
	Status DataImageStatus `json:"status,omitzero" doc:"The drive as it is, written by the conductor."`
}

// DataImageSpec is the wanted image.
type DataImageSpec struct {
	URL string `json:"url" rule:"required" doc:"Where the machine's controller fetches the image: http or https. A change is made at the next reboot."`
}

// DataImageStatus is the observed state of the drive.
type DataImageStatus struct {
	LastReconciled *Time          `json:"lastReconciled,omitempty" doc:"When the drive was last changed, or found other than before."`
	AttachedImage  AttachedImage  `json:"attachedImage" doc:"The image that is in the drive."`
	Error          DataImageError `json:"error" doc:"The failure that keeps the image from going in or out."`
}

// AttachedImage is the image in the drive: "" for none.
type AttachedImage struct {
	URL string `json:"url" doc:"Where it was fetched."`
}

// DataImageError is a failure. The count goes on over further tries, each of which clears the message, until one
// succeeds.
type DataImageError struct {
	Count   int    `json:"count" rule:"min=0" doc:"How often it has failed in a row."`
	Message string `json:"message" doc:"The last failure, and its reason."`
}

// DataImageFinalizer keeps a deleted image until it is out of the drive.
const DataImageFinalizer = "dataimage.metal3.io"

// checkDataImage refuses URLs that no controller can fetch. Metal3 lets ftp, gopher and oci pass as well, which the
// drive then refuses.
func checkDataImage(i *DataImage, add report) {
	if i.Spec.URL == "" { // the tags do not look into a spec that is empty
		add(Problem{Path: "spec.url", Reason: "it is required", Missing: true})
		return
	}
	if !fetchable(i.Spec.URL, "http", "https") {
		add(Problem{
			Path: "spec.url", Value: i.Spec.URL,
			Reason: "expected a URL of http or https, which the machine's controller fetches by itself",
		})
	}
}

// fetchable reports whether a text is a URL of one of these schemes, with a host.
func fetchable(text string, schemes ...string) bool {
	u, err := url.ParseRequestURI(text)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}
