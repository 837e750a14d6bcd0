package redfish

import (
	"net/http"
	"time"
)

// sessionService is SessionService.v1_1_8.
type sessionService struct {
	common
	ServiceEnabled bool
	SessionTimeout int // seconds
	Status         status
	Sessions       link
}

func (s *Server) getSessionService(*http.Request) (reply, error) {
	return ok(sessionService{
		common:         head(servicePath, "SessionService.v1_1_8.SessionService", "Session Service"),
		ServiceEnabled: true,
		SessionTimeout: int(s.config.SessionTimeout / time.Second),
		Status:         enabled(),
		Sessions:       link{sessionsPath},
	})
}

func (s *Server) getSessions(r *http.Request) (reply, error) {
	var members []string
	for _, open := range s.sessions.all() {
		members = append(members, sessionsPath+"/"+open.id)
	}
	return collection("Session", "Sessions", members...)(r)
}

// sessionBody is Session.v1_5_0. It never shows the token.
type sessionBody struct {
	common
	UserName    string
	CreatedTime string
}

func describeSession(s session) sessionBody {
	return sessionBody{
		common:      head(sessionsPath+"/"+s.id, "Session.v1_5_0.Session", "Session"),
		UserName:    s.user,
		CreatedTime: s.created.UTC().Format(time.RFC3339),
	}
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
func (s *Server) login(r *http.Request) (reply, error) {
	var c credentials
	if err := decode(r, &c); err != nil {
		return reply{}, err
	}
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
	body := describeSession(opened)
	return reply{
		status: http.StatusCreated,
		header: http.Header{"X-Auth-Token": {opened.token}, "Location": {body.ODataID}},
		body:   body,
	}, nil
}

func (s *Server) getSession(r *http.Request) (reply, error) {
	for _, open := range s.sessions.all() {
		if open.id == r.PathValue("id") {
			return ok(describeSession(open))
		}
	}
	return reply{}, problem(resourceMissing, r.URL.Path)
}

func (s *Server) logout(r *http.Request) (reply, error) {
	if !s.sessions.close(r.PathValue("id")) {
		return reply{}, problem(resourceMissing, r.URL.Path)
	}
	return noContent()
}
