package reconciler

import (
	"errors"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
)

// How soon a host is looked at again that could not be dealt with now.
const (
	lockedPause      = 3 * time.Second  // its node is reserved; Metal3 waits as long
	brokenPause      = 10 * time.Second // something of ours failed; longer the more often it did
	maxPause         = 5 * time.Minute
	overtakenRetries = 5 // looks in a row that others may overtake until the next has to wait
)

// errOvertaken: another client has changed a document meanwhile, and the host must be decided anew.
var errOvertaken = errors.New("another writer was faster")

// errOtherGroup: the host waits for a place of another conductor group.
var errOtherGroup = errors.New("the node is in another conductor group than was known")

// failureCounts counts how often in a row each host could not be dealt with.
type failureCounts struct {
	mu    sync.Mutex
	times map[key]int
}

// increment counts one more.
func (s *failureCounts) increment(k key) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times == nil {
		s.times = map[key]int{}
	}
	s.times[k]++
	return s.times[k]
}

// reset clears a host's failures after a success.
func (s *failureCounts) reset(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.times, k)
}

// afterFailure is the time of the next look after a failure.
func (r *Reconciler) afterFailure(k key, why error) time.Time {
	at, times := r.failures.pause(k, why, r.Now())
	if times > 0 {
		r.Log.Error("host not reconciled; tried again later", "host", k, "times", times, "err", why)
	}
	return at
}

// pause is the time of the next look after a failure: at once a few times when the document was overtaken, else after a
// pause that doubles. times is how often it has failed in a row, or 0 where it was overtaken.
func (s *failureCounts) pause(k key, why error, now time.Time) (at time.Time, times int) {
	n, first := s.increment(k), brokenPause
	if errors.Is(why, errOvertaken) {
		if n <= overtakenRetries {
			return now, 0
		}
		n, first = n-overtakenRetries, time.Second
	} else {
		times = n
	}
	return now.Add(min(first<<min(n-1, 10), maxPause)), times
}

// skipUnreadable is a list's error without documents that cannot be decoded: these are set
// aside with a line in the log, and the others are looked after.
func (r *Reconciler) skipUnreadable(err error) error {
	var bad *objects.UnreadableError
	if !errors.As(err, &bad) {
		return err
	}
	for _, k := range bad.Keys {
		r.Log.Error("a document cannot be read; it is left alone until it is repaired", "document", k, "err", bad.Err)
	}
	return nil
}
