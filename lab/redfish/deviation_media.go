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

// patchMedia inserts or ejects an image where there are no actions.
func (s *Server) patchMedia(r *http.Request) (reply, error) {
	var q struct {
		Image                *string
		Inserted             *bool
		WriteProtected       *bool
		UserName, Password   string
		TransferMethod       string
		TransferProtocolType string
	}
	if err := decode(r, &q); err != nil {
		return reply{}, err
	}
	if q.Image == nil {
		return s.emptyDrive(r)
	}
	if q.Inserted == nil || !*q.Inserted {
		return reply{}, problem(propertyMissing, "Inserted").about("#/Inserted")
	}
	return s.fillDrive(r, insertRequest{Image: *q.Image, UserName: q.UserName, Password: q.Password})
}
