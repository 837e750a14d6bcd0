// Package ipmi drives BMCs that speak IPMI 2.0 over RMCP+ (the IPMI specification v2.0, section 13), by go-ipmi. Its
// settings and limits are the same as in Ironic's ipmitool interfaces.
//
// A BMC sees one session per user and one command at a time (package controller). go-ipmi packs and unpacks messages.
// Packets from the network pass the private type wire first, which lets in only packets that the BMC has signed. Each
// command is traced at debug level.
//
// It must not decide about a machine, nor let a password into an error or a log.
package ipmi

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/controller"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
)

// Options are how a Driver behaves; zero fields mean the defaults.
type Options struct {
	Log            *slog.Logger
	Dialer         dial.Dialer   // may refuse addresses; nil dials any
	RequestTimeout time.Duration // bounds the first try of a command, doubled with each, 1 s
	CallTimeout    time.Duration // bounds each call without a deadline of its own, 1 h
	IdleTimeout    time.Duration // after which a session is given back, 45 s: BMCs drop them after 60
	RefusedFor     time.Duration // how long refused credentials are not tried again, 30 s
	BackOff        time.Duration // the first pause after a failure, doubled with each, 250 ms
	MaxBackOff     time.Duration // 60 s

	// SendRaw lets operators send raw commands.
	SendRaw bool

	// Called is called after every call, with its duration; may be nil.
	Called func(took time.Duration, err error)
}

// Driver drives every IPMI BMC; it is safe for concurrent use.
type Driver struct {
	o    *Options
	pool *controller.Pool[account, *login]
}

// New makes a driver without connections.
func New(o Options) *Driver {
	if o.RequestTimeout == 0 {
		o.RequestTimeout = time.Second
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = time.Hour
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = 45 * time.Second
	}
	if o.Dialer == nil {
		o.Dialer = &net.Dialer{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Driver{&o, controller.New(controller.Options{
		Driver: "ipmi", Log: o.Log, Failure: failure, CallTimeout: o.CallTimeout, LogoutTimeout: o.RequestTimeout,
		IdleTimeout: o.IdleTimeout, RefusedFor: o.RefusedFor, BackOff: o.BackOff, MaxBackOff: o.MaxBackOff,
		Called: o.Called,
	}, func(address string, a account) *login { return &login{o: &o, address: address, account: a} })}
}

// Validate reports settings of driver_info that are missing or wrong.
func (d *Driver) Validate(n node.Node) error {
	_, err := parse(n)
	return err
}

// call runs do as the only call at the BMC of n. Errors name the operation.
func (d *Driver) call(ctx context.Context, n node.Node, what string,
	do func(ctx context.Context, s *session) error) error {
	t, err := parse(n)
	if err != nil {
		return err
	}
	return d.pool.Call(ctx, t.address, t.account, what, func(ctx context.Context, l *login) error {
		return l.call(ctx, do)
	})
}

// Close gives back all sessions. A BMC that does not answer keeps its session
// until that runs out by itself.
func (d *Driver) Close() error { return d.pool.Close() }
