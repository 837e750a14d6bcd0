package redfish

import "net/http"

// Where the media actions are posted, below the drive.
const (
	insertAction = "/Actions/VirtualMedia.InsertMedia"
	ejectAction  = "/Actions/VirtualMedia.EjectMedia"
)

// mediaValues are null where the drive is empty.
func (s *Server) mediaValues() values {
	if image, name := s.shownMedia(); image != "" {
		return values{"image": image, "imageName": name, "connectedVia": "URI", "inserted": true}
	}
	return values{"image": nil, "imageName": nil, "connectedVia": "NotConnected", "inserted": false}
}

// insertRequest is the body of InsertMedia. A CD is read-only and inserted
// as it is named, so the flags have one good value each.
type insertRequest struct {
	Image                string
	Inserted             *bool
	WriteProtected       *bool
	UserName             string
	Password             string
	TransferMethod       string // stream or upload: the image is copied either way
	TransferProtocolType string // follows from the URI
	MediaType            string
}

func (s *Server) insertMedia(r *http.Request, q insertRequest) error {
	if q.Image == "" {
		return problem(parameterMissing, insertName, "Image").about("#/Image")
	}
	for parameter, value := range map[string]*bool{"Inserted": q.Inserted, "WriteProtected": q.WriteProtected} {
		if value != nil && !*value {
			return problem(parameterNotInList, "false", parameter, insertName).about("#/" + parameter)
		}
	}
	return s.fillDrive(r, q)
}

func (s *Server) fillDrive(r *http.Request, q insertRequest) error {
	if err := s.media.insert(r.Context(), q); err != nil {
		return err
	}
	s.log.Info("media inserted", "image", q.Image)
	return nil
}

// ejectMedia empties the drive.
func (s *Server) ejectMedia(r *http.Request, _ struct{}) error {
	if image, _ := s.media.inserted(); image != "" {
		s.recent.eject(image)
	}
	if err := s.media.eject(r.Context()); err != nil {
		return err
	}
	s.log.Info("media ejected")
	return nil
}
