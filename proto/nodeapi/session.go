package nodeapi

import "time"

// SessionPath is the login of a browser: POST begins a session, GET describes it, DELETE ends it.
const SessionPath = FerriteRoot + "/session"

const (
	// HeaderSession is the word of a session. A request that changes something must have it beside the cookie, since
	// browsers send cookies for pages of other sites, too. With any value, a 401 asks the browser for nothing.
	HeaderSession = "X-Ferrite-Session"
	// LinkScheme is the scheme of the header Authorization by which a link of `ferrite user link` begins a session.
	// The secret is behind the # of the link, which browsers do not send.
	LinkScheme = "Ferrite-Link"
	// LinkFragment begins the part behind the #.
	LinkFragment = "link="
)

// SessionCookie is the name of the cookie that holds a session: the browser sends it, and no script can read it.
// Behind https browsers accept this name only from the host itself and by https (RFC 6265bis, 4.1.3.2). So no
// neighbour of the host's domain, and no page without TLS, can log its reader in as another user.
func SessionCookie(https bool) string {
	if https {
		return "__Host-ferrite_session"
	}
	return "ferrite_session"
}

// Session describes a caller and its rights.
type Session struct {
	// User is the caller's name; "" where the conductor does not authenticate (--auth none).
	User string `json:"user"`
	// Role is reader, operator or admin.
	Role string `json:"role"`
	// Project is the caller's project, "" for the whole system.
	Project string `json:"project"`
	// Word goes into the header X-Ferrite-Session of each request that changes something; "" without a session.
	Word string `json:"word"`
	// Ends is when the session does; null without one.
	Ends *time.Time `json:"ends"`
	// Rules are the names of the rules of the policy that the caller meets, by how a node concerns it.
	Rules SessionRules `json:"rules"`
}

// SessionRules are names of rules, each sorted.
type SessionRules struct {
	// Always holds for everything.
	Always []string `json:"always"`
	// Owned and Lent hold for nodes that belong, or are lent, to the caller's project.
	Owned []string `json:"owned"`
	Lent  []string `json:"lent"`
}
