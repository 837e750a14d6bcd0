package openstack

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
)

// Cloud is an OpenStack with the machines of a bare metal service, which is not part of it.
type Cloud struct {
	Keystone *Keystone
	Glance   *Glance
	Neutron  *Neutron
	Nova     *Nova

	started []stopper // in this order
}

type stopper interface{ Stop() error }

// StartCloud makes a cloud in a folder, and starts it. It takes a minute or two, most of it for tables.
func StartCloud(ctx context.Context, at Place, dir string) (*Cloud, error) {
	c := &Cloud{}
	if err := c.start(ctx, at, dir); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cloud) start(ctx context.Context, at Place, dir string) error {
	var (
		database  *MariaDB
		bus       *RabbitMQ
		placement *Placement
	)
	in := func(name string) string { return filepath.Join(dir, name) }
	// Each step waits for the services of the steps before.
	err := c.atOnce(
		func() (s stopper, err error) {
			c.Keystone, err = StartKeystone(ctx, at, in("keystone"))
			return c.Keystone, err
		},
		func() (s stopper, err error) {
			database, err = StartMariaDB(ctx, at, in("mariadb"))
			return database, err
		},
		func() (s stopper, err error) {
			bus, err = StartRabbitMQ(ctx, at, in("rabbitmq"))
			return bus, err
		})
	if err != nil {
		return err
	}
	err = c.atOnce(
		func() (s stopper, err error) {
			c.Glance, err = StartGlance(ctx, at, in("glance"), c.Keystone)
			return c.Glance, err
		},
		func() (s stopper, err error) {
			c.Neutron, err = StartNeutron(ctx, at, in("neutron"), c.Keystone)
			return c.Neutron, err
		},
		func() (s stopper, err error) {
			placement, err = StartPlacement(ctx, at, in("placement"), database, c.Keystone)
			return placement, err
		})
	if err != nil {
		return err
	}
	return c.atOnce(func() (s stopper, err error) {
		c.Nova, err = StartNova(ctx, at, in("nova"), NovaNeeds{c.Keystone, c.Glance, placement, database, bus})
		return c.Nova, err
	})
}

// atOnce starts services beside each other.
func (c *Cloud) atOnce(starts ...func() (s stopper, err error)) error {
	services, errs := make([]stopper, len(starts)), make([]error, len(starts))
	var all sync.WaitGroup
	for i, start := range starts {
		all.Go(func() { services[i], errs[i] = start() })
	}
	all.Wait()
	for i, s := range services {
		if errs[i] == nil {
			c.started = append(c.started, s)
		}
	}
	return errors.Join(errs...)
}

// Stop ends all of it, the last one started first.
func (c *Cloud) Stop() error {
	var errs []error
	for _, s := range slices.Backward(c.started) {
		errs = append(errs, s.Stop())
	}
	c.started = nil
	return errors.Join(errs...)
}
