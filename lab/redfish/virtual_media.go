package redfish

import (
	"net/http"
)

// Where the media actions are posted, below the drive.
const (
	insertAction = "/Actions/VirtualMedia.InsertMedia"
	ejectAction  = "/Actions/VirtualMedia.EjectMedia"
)

// virtualMedia is VirtualMedia.v1_6_0. Image and ImageName are null while
// the drive is empty.
type virtualMedia struct {
	common
	MediaTypes     []string
	Image          *string
	ImageName      *string
	ConnectedVia   string
	Inserted       bool
	WriteProtected bool
	Status         status
	Actions        *mediaActions `json:",omitempty"`
}

type mediaActions struct {
	Insert action `json:"#VirtualMedia.InsertMedia"`
	Eject  action `json:"#VirtualMedia.EjectMedia"`
}

func (s *Server) getMedia(*http.Request) (reply, error) {
	body := virtualMedia{
		common:     head(mediaPath, "VirtualMedia.v1_6_0.VirtualMedia", "Virtual CD"),
		MediaTypes: []string{"CD", "DVD"}, ConnectedVia: "NotConnected", WriteProtected: true, Status: enabled(),
		Actions: &mediaActions{action{mediaPath + insertAction}, action{mediaPath + ejectAction}},
	}
	if s.personality.has(MediaByPatch) {
		body.Actions = nil
	}
	if image, name := s.shownMedia(); image != "" {
		body.Image, body.ImageName, body.ConnectedVia, body.Inserted = &image, &name, "URI", true
	}
	return ok(body)
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

func (s *Server) insertMedia(r *http.Request) (reply, error) {
	const name = "VirtualMedia.InsertMedia"
	var q insertRequest
	if err := decode(r, &q); err != nil {
		return reply{}, err
	}
	if q.Image == "" {
		return reply{}, problem(parameterMissing, name, "Image").about("#/Image")
	}
	for parameter, value := range map[string]*bool{"Inserted": q.Inserted, "WriteProtected": q.WriteProtected} {
		if value != nil && !*value {
			return reply{}, problem(parameterNotInList, "false", parameter, name).about("#/" + parameter)
		}
	}
	return s.fillDrive(r, q)
}

func (s *Server) fillDrive(r *http.Request, q insertRequest) (reply, error) {
	if err := s.insertRefusal(q); err != nil {
		return reply{}, err
	}
	if err := s.media.insert(r.Context(), q); err != nil {
		return reply{}, err
	}
	s.log.Info("media inserted", "image", q.Image)
	return noContent()
}

func (s *Server) ejectMedia(r *http.Request) (reply, error) {
	if s.personality.has(EjectWantsBody) && r.ContentLength == 0 {
		return reply{}, problem(unsupportedMedia)
	}
	if err := decode(r, &struct{}{}); err != nil {
		return reply{}, err
	}
	return s.emptyDrive(r)
}

func (s *Server) emptyDrive(r *http.Request) (reply, error) {
	if image, _ := s.media.inserted(); image != "" {
		s.recent.eject(image)
	}
	if err := s.media.eject(r.Context()); err != nil {
		return reply{}, err
	}
	s.log.Info("media ejected")
	return noContent()
}
