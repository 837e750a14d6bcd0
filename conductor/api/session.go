package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Sessions keeps the logins of browsers.
type Sessions interface {
	Begin(r *http.Request, c *auth.Caller) (auth.Session, error)
	Session(r *http.Request) (auth.Session, bool)
}

// sessionResource serves the login of a browser, and a caller's own identity.
type sessionResource struct {
	access
	sessions Sessions // nil without logins
}

func (h *sessionResource) routes() []rest.Route {
	answer := rest.Returns(rest.FormOf(nodeapi.Session{}))
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.SessionPath, Doc: "the caller and its rights",
			Handle: h.show, Wire: answer},
		{Method: http.MethodPost, Path: nodeapi.SessionPath,
			Doc: "log in with a browser, by password, token or one-time link: the answer sets a cookie that holds for " +
				"eight hours",
			Handle: h.begin, Wire: answer},
		{Method: http.MethodDelete, Path: nodeapi.SessionPath, Doc: "log out: the answer removes the cookie",
			Handle: h.end, Wire: rest.Wire{Status: http.StatusNoContent}},
	}
}

func (h *sessionResource) show(c *rest.Call) error {
	unstored(c)
	var s auth.Session
	if h.sessions != nil {
		s, _ = h.sessions.Session(c.Request())
	}
	return c.Marshal(http.StatusOK, wireSession(h.Rules, c.Caller, s))
}

func (h *sessionResource) begin(c *rest.Call) error {
	unstored(c)
	if h.sessions == nil { // the conductor requires no login
		return c.Marshal(http.StatusOK, wireSession(h.Rules, nil, auth.Session{}))
	}
	s, err := h.sessions.Begin(c.Request(), c.Caller)
	if err != nil {
		return err
	}
	setSession(c, s.Cookie, int(auth.SessionLasts.Seconds()))
	return c.Marshal(http.StatusOK, wireSession(h.Rules, c.Caller, s))
}

func (h *sessionResource) end(c *rest.Call) error {
	unstored(c)
	setSession(c, "", -1)
	return c.NoContent(http.StatusNoContent)
}

// setSession gives a browser a cookie that no script reads, and that no page of another site makes it send.
func setSession(c *rest.Call, value string, seconds int) {
	https := strings.HasPrefix(c.BaseURL(), "https://")
	http.SetCookie(c.Response(), &http.Cookie{Name: nodeapi.SessionCookie(https), Value: value, Path: "/",
		MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: https})
}

// unstored forbids caches to keep an answer, since it has the word of a session.
func unstored(c *rest.Call) { c.Response().Header().Set("Cache-Control", "no-store") }

func wireSession(rules auth.Rules, caller *auth.Caller, s auth.Session) nodeapi.Session {
	w := nodeapi.Session{Role: auth.Admin.String(), Word: s.Word, Ends: moment(s.Ends)}
	if caller != nil {
		w.User, w.Role, w.Project = caller.User, caller.Role.String(), caller.Project
	}
	w.Rules.Always, w.Rules.Owned, w.Rules.Lent = rules.Met(caller)
	return w
}
