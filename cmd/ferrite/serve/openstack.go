//go:build !noopenstack

package serve

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/imports"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/nova"
)

// openstack is the cloud that the conductor is a part of, and imports from an Ironic.
type openstack struct {
	Keystone keystoneConfig
	Neutron  neutronConfig
	Glance   glanceConfig
}

func newOpenStack() extra { return &openstack{} }

func (o *openstack) settings() map[string]func(*settings) {
	return map[string]func(*settings){"openstack": func(s *settings) {
		o.Keystone.settings(s)
		o.Glance.settings(s)
		o.Neutron.settings(s)
	}}
}

func (o *openstack) secrets() []*string { return []*string{&o.Keystone.PasswordFile} }

func (o *openstack) check(c *Config) error {
	return errors.Join(o.checkKeystone(c), o.checkNeutron(c), o.checkGlance(c))
}

// identity has tokens of OpenStack taken, with --auth keystone.
func (o *openstack) identity(c *Config, to *auth.Options) error {
	if !c.inCloud() {
		return nil
	}
	client, err := o.Keystone.client(nil)
	if err != nil {
		return err
	}
	to.Keystone, to.AdminProjects = client, o.Keystone.AdminProjects
	return nil
}

// join has the cloud's networks and images used, and Nova follow the power of machines.
func (o *openstack) join(_ context.Context, w *work, p parts) error {
	networks, err := o.networks(p.check)
	if err != nil {
		return err
	}
	if w.glance, err = o.glance(&w.conf, w.log); err != nil {
		return err
	}
	w.configured = append(w.configured, func(e *engine.Config) {
		e.Networks = networks
		e.Settings.Neutron, e.Settings.InspectionNetwork = networks != nil, o.Neutron.inspects()
		e.Settings.NodeNetworks = o.Neutron.NodeNetworks
	})
	w.served = append(w.served, func(a *api.Options) { a.Imports = imports.New(w.engine.Core) })
	if !o.Keystone.TellNova || !w.conf.inCloud() {
		return nil
	}
	cloud, err := o.Keystone.client(nil)
	if err != nil {
		return err
	}
	notifier := nova.New(nova.Config{Store: p.db, Cloud: cloud, Log: w.log, Now: w.now})
	w.readers = append(w.readers, reader{run: notifier.Run})
	return nil
}
