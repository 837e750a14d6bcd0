package dhcp

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ferrite-metal/ferrite/pxe"
)

// savedAtOnce is how many leases are put on record together: they share the disk's flushes.
const savedAtOnce = 64

// resume prolongs leases by one full time in subnets where all leases ran out some time ago. It prolongs those that
// ran together with the last one. Such a gap means that the server was away for long or its clock was set forward, and
// the machines still use the addresses. A lease released just now stays free. resume returns all leases, and records
// the prolonged ones.
func resume(ctx context.Context, c Config, leases []pxe.Lease) []pxe.Lease {
	now := c.Now()
	var saves errgroup.Group
	saves.SetLimit(savedAtOnce)
	for _, s := range c.Subnets {
		leased := func(l pxe.Lease) bool { return !l.Static && l.Subnet == s.Name && s.Prefix.Contains(l.IP) }
		var newest time.Time
		for _, l := range leases {
			if leased(l) && l.Expires.After(newest) {
				newest = l.Expires
			}
		}
		lease := cmp.Or(s.Lease, DefaultLease)
		for i := range leases {
			l := &leases[i]
			if newest.After(now.Add(-lease/4)) || !leased(*l) || !l.Expires.After(newest.Add(-lease-lease/4)) {
				continue
			}
			l.Expires = now.Add(lease)
			one := *l
			saves.Go(func() error { return c.Leases.SaveLease(ctx, one) })
		}
	}
	if err := saves.Wait(); err != nil {
		c.Log.Warn("leases that have run out are kept for one more time, though not on record", "err", err)
	}
	return leases
}
