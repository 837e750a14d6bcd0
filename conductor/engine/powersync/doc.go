// Package powersync reads the power state of every machine in its turn, and now and then its boot mode and secure
// boot. It writes only changes that plan accepts.
package powersync
