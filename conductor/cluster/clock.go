package cluster

import "time"

const (
	clockOff  = time.Minute // between this member's clock and the database's, before a line in the log says so
	toldEvery = time.Minute
)

// compareClock compares this member's clock with the database's at its last sign of life. Leaderships do not depend on
// it. But a leader with a wrong clock shows other times, and computes wrong ages of stored records.
func (c *Cluster) compareClock(seen time.Time) {
	off := seen.Sub(c.beaten.Round(0))
	c.off.Store(int64(off))
	if off.Abs() >= clockOff && time.Since(c.told) >= toldEvery {
		c.told = time.Now()
		c.Log.Warn("the clock of this conductor's host is not the database's: have NTP set both right, then restart "+
			"the conductor", "off", off.Round(time.Second))
	}
}

// DatabaseTime is the time by the database's clock, as it was at the last sign of life.
func (c *Cluster) DatabaseTime() time.Time { return time.Now().Add(time.Duration(c.off.Load())) }
