package core

import "time"

// BmcCall bounds one call to a BMC, bmcCheck one of a verification.
const (
	BmcCall  = 25 * time.Second
	BmcCheck = 12 * time.Second
)
