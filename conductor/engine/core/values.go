package core

import (
	"time"
)

// Seconds is a duration of s seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
