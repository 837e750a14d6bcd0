package engine

import "time"

// bmcCall bounds one call to a BMC, bmcCheck one of a verification.
const (
	bmcCall  = 25 * time.Second
	bmcCheck = 12 * time.Second
)
