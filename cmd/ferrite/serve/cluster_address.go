package serve

import (
	"context"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/cluster/floating"
)

// takeBootAddress puts --boot-address on this host for a term, unless the interface has it for good: ramdisks, scripts
// and DHCP's server identifier name it, whoever leads. leave takes it away, once.
func (m *member) takeBootAddress(ctx context.Context, c Config, l *cluster.Lease) (leave func() error, err error) {
	if !c.Boot || c.BootAddress == "" {
		return func() error { return nil }, nil
	}
	prefix, err := c.bootPrefix()
	if err != nil {
		return nil, err
	}
	release, err := floating.Take(context.WithoutCancel(ctx), floating.Address{Interface: c.BootInterface, Prefix: prefix},
		l.Left, m.log)
	if err != nil {
		return nil, err
	}
	return sync.OnceValue(release), nil
}
