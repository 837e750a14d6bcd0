package controller

import "fmt"

// CredentialsError is a BMC that does not let us in. The pool does not try the
// same credentials again for a while: many BMCs lock accounts.
type CredentialsError struct {
	Prefix string // of the settings in driver_info: redfish, ipmi
	User   string
	Cause  error // the BMC's answer; it holds no secret
}

func (e *CredentialsError) Error() string {
	if e.User == "" {
		return fmt.Sprintf("the BMC wants credentials: set %s_username and %[1]s_password (%v)", e.Prefix, e.Cause)
	}
	return fmt.Sprintf("the credentials of user %q were refused: correct %s_username and %[2]s_password (%v)", e.User,
		e.Prefix, e.Cause)
}

// Permanent says that trying again does not help.
func (e *CredentialsError) Permanent() bool { return true }
