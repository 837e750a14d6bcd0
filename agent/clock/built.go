package clock

import (
	"regexp"
	"time"
)

// How kernels write the day of their build at the end of uname's version: Debian's as
// "#1 SMP PREEMPT_DYNAMIC Debian 6.1.148-1 (2025-08-26)", others as
// "#1 SMP Tue Aug 26 10:11:12 UTC 2025".
var (
	debianDay = regexp.MustCompile(`\((\d{4}-\d{2}-\d{2})\)$`)
	unixDate  = regexp.MustCompile(`[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} [A-Z]{3,4} \d{4}$`)
)

// Built is when a kernel was built by uname's version; zero when that does not say. The
// ramdisk around it is not older, and has no other date: the same inputs make the same
// bytes.
func Built(version string) time.Time {
	if m := debianDay.FindStringSubmatch(version); m != nil {
		day, _ := time.Parse(time.DateOnly, m[1]) // zero for a day that there is not
		return day
	}
	at, _ := time.Parse(time.UnixDate, unixDate.FindString(version)) // zero for none
	return at
}
