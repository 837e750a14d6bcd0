package rest

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// Authenticator identifies the sender of a request, or answers a Fault and sets the headers
// that go with it.
type Authenticator interface {
	Authenticate(w http.ResponseWriter, r *http.Request) (*auth.Caller, error)
}
