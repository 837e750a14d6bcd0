package bootpolicy

import (
	"sync"
	"time"
)

const (
	// unenrolledFor is how long a machine is taken for one that nobody has enrolled since it was last looked for: it
	// asks DHCP twice within milliseconds, and each answer is a boot stage. Its script and files are looked for anew.
	unenrolledFor = 250 * time.Millisecond
	maxUnenrolled = 4096
)

// unenrolled are machines that were found in no port a moment ago: the look-up is most of what one of them costs. The
// zero value is ready.
type unenrolled struct {
	mu   sync.Mutex
	seen map[string]time.Time // by MAC
}

func (u *unenrolled) note(mac string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil || len(u.seen) >= maxUnenrolled {
		u.seen = map[string]time.Time{}
	}
	u.seen[mac] = now
}

func (u *unenrolled) lately(mac string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, seen := u.seen[mac]
	return seen && now.Sub(at) < unenrolledFor
}
