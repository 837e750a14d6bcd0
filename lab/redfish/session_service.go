package redfish

import "net/http"

func (l *sessions) items() (all []item) {
	for _, one := range l.all() {
		all = append(all, item{one.id, values{"sessionUser": one.user, "created": rfc3339(one.created)}})
	}
	return all
}

// credentials is the body of a login (DSP0266, 13.3.4.2).
type credentials struct {
	UserName string
	Password string
	// Context and SessionType are sent by some clients; they change nothing.
	Context     string
	SessionType string
}

// login opens a session: the token is in a header, the session's address in
// Location.
func (s *Server) login(r *http.Request, c credentials) (reply, error) {
	if c.UserName == "" {
		return reply{}, problem(propertyMissing, "UserName").about("#/UserName")
	}
	if err := s.checkPassword(r, c.UserName, c.Password); err != nil {
		return reply{}, err
	}
	opened, err := s.sessions.open(c.UserName)
	if err != nil {
		return reply{}, err
	}
	at := sessionsPath + "/" + opened.id
	body, err := s.document(sessionsPath+"/{id}", at)
	return reply{
		status: http.StatusCreated,
		header: http.Header{"X-Auth-Token": {opened.token}, "Location": {at}},
		body:   body,
	}, err
}

func (s *Server) logout(r *http.Request) (reply, error) {
	if !s.sessions.close(r.PathValue("id")) {
		return reply{}, problem(resourceMissing, r.URL.Path)
	}
	return reply{}, nil
}
