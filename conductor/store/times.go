package store

import "time"

// micros is a time as a column holds it: unix microseconds, 0 for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func microsOf(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return micros(*t)
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// earliest turns the answer of SELECT min(...), which has a row even when the
// table has none, into a time and whether there is one.
func earliest(us *int64) (time.Time, bool) {
	if us == nil {
		return time.Time{}, false
	}
	return fromMicros(*us), true
}
