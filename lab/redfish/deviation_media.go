package redfish

import "net/http"

// shownMedia is the image that this controller shows in the drive, "" for none.
func (s *Server) shownMedia() (image, name string) {
	if image, name = s.media.inserted(); image == "" && s.personality.has(SlowEject) &&
		s.recent.within(mediaEjected, s.config.Delays.Eject) {
		return s.recent.leaving(), "ejecting"
	}
	return image, name
}

// mediaPatch holds the writable properties of the drive where there are no actions.
type mediaPatch struct {
	Image                *string
	Inserted             *bool
	WriteProtected       *bool
	UserName, Password   string
	TransferMethod       string
	TransferProtocolType string
}

// patchMedia inserts or ejects an image.
func (s *Server) patchMedia(r *http.Request, q mediaPatch) error {
	if q.Image == nil {
		return s.ejectMedia(r, struct{}{})
	}
	if q.Inserted == nil || !*q.Inserted {
		return problem(propertyMissing, "Inserted").about("#/Inserted")
	}
	return s.fillDrive(r, insertRequest{Image: *q.Image, UserName: q.UserName, Password: q.Password})
}
