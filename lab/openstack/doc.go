// Package openstack runs OpenStack for tests: Debian's packages, unmodified, each in a folder of its own, on the
// loopback of a Place. Keystone, Glance, Neutron and Ironic keep their data in SQLite; Nova and Placement in MariaDB.
// StartCloud starts all but Ironic.
package openstack
