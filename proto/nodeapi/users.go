package nodeapi

import "time"

// Users lists the users in the conductor's files: GET /ferrite/v1/users.
type Users struct {
	Users []User `json:"users"`
	// Ways are how they log in, of basic, token and keystone. The users of Keystone are not listed.
	Ways []string `json:"ways"`
	// Roles: the users have roles and tokens, by the users file. Without it all are admins.
	Roles bool `json:"roles"`
}

// User is one of them. It has no secret, and no hash of one.
type User struct {
	Name     string      `json:"name"`
	Role     string      `json:"role"`
	Project  string      `json:"project"`  // "" for the whole system
	Password bool        `json:"password"` // the user has one
	Tokens   []UserToken `json:"tokens"`
}

// UserToken is a token, by its label.
type UserToken struct {
	Label   string     `json:"label"`
	Expires *time.Time `json:"expires"` // null for never
	Expired bool       `json:"expired"`
}
