// Package redfish drives BMCs that speak DMTF's Redfish (DSP0266), by gofish.
//
// A BMC sees one session per user and one request at a time (package controller), and every request ends by a deadline.
// Each is traced at debug level.
//
// It must not decide about a machine, nor let a password or a token into an error or a log.
package redfish

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/stmcginnis/gofish"

	"github.com/ferrite-metal/ferrite/conductor/bmc/controller"
	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
)

// Options are how a Driver behaves; zero fields mean the defaults.
type Options struct {
	Log            *slog.Logger
	Dialer         dial.Dialer      // may refuse addresses; nil dials any
	CAs            cacert.Folder    // that redfish_verify_ca may name files of; none
	TLS            tlspolicy.Policy // of nodes without settings of their own
	ConnectTimeout time.Duration    // bounds the connection of a request, 10 s
	RequestTimeout time.Duration    // bounds each request, 30 s
	CallTimeout    time.Duration    // bounds each call without a deadline of its own, 1 h
	IdleTimeout    time.Duration    // after which a session is given back, 5 min
	RefusedFor     time.Duration    // how long refused credentials are not tried again, 30 s
	BackOff        time.Duration    // the first pause after a failure, doubled with each, 250 ms
	MaxBackOff     time.Duration    // 60 s
	StepPatience   time.Duration    // how long a step waits while nothing goes on, 20 min
	Pause          time.Duration    // between two tries of a request that the BMC is busy for, 3 s
	Firmware       FirmwareTimes    // of updates
	VerifyClock    bool             // verify_bmc_clock is done when a node is verified
	Quirks         []QuirkRow       // nil: Quirks()
	Trace          func(Request)    // called after each request; may be nil
	// Shown is called with each document that a BMC answers, which it must not keep or change; may be nil.
	Shown func(path string, document []byte)
	Odd   func(Oddity) // called once for each oddity of a BMC; it must not wait; may be nil

	Sessions Sessions // nil: sessions are remembered in this process alone

	// Called is called after every call, with its duration; may be nil.
	Called func(took time.Duration, err error)

	// SOLConsole opens a console by serial over LAN, of a node with the driver ipmi; nil: there is none.
	SOLConsole func(ctx context.Context, n node.Node, take bool) (io.ReadWriteCloser, error)
}

// Request is one exchange with a BMC.
type Request struct {
	Method, Path string
	Took         time.Duration
	Status       int // 0 where no answer came
}

// Driver drives every Redfish BMC; it is safe for concurrent use.
type Driver struct {
	pool     *controller.Pool[account, *login]
	patience time.Duration // Options.StepPatience
	firmware FirmwareTimes
	clock    int // priority of verify_bmc_clock
	cas      cacert.Folder
	dialer   dial.Dialer
	tls      tlspolicy.Policy

	solConsole func(ctx context.Context, n node.Node, take bool) (io.ReadWriteCloser, error)
}

// New makes a driver without connections.
func New(o Options) *Driver {
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 10*time.Second)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, 30*time.Second)
	o.CallTimeout = cmp.Or(o.CallTimeout, time.Hour)
	o.Pause = cmp.Or(o.Pause, 3*time.Second)
	if o.Quirks == nil {
		o.Quirks = Quirks()
	}
	if o.Dialer == nil {
		o.Dialer = &net.Dialer{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.StepPatience == 0 {
		o.StepPatience = 20 * time.Minute
	}
	o.Firmware.complete()
	clock := 0
	if o.VerifyClock {
		clock = 1 // as in Ironic
	}
	return &Driver{patience: o.StepPatience, firmware: o.Firmware, clock: clock, cas: o.CAs, dialer: o.Dialer,
		tls: o.TLS, solConsole: o.SOLConsole,
		pool: controller.New(controller.Options{
			Driver: "redfish", Log: o.Log, Failure: failure, CallTimeout: o.CallTimeout,
			LogoutTimeout: min(o.RequestTimeout, 15*time.Second),
			IdleTimeout:   o.IdleTimeout, RefusedFor: o.RefusedFor, BackOff: o.BackOff, MaxBackOff: o.MaxBackOff,
			Called: o.Called,
		}, func(base string, a account) *login { return &login{o: &o, base: base, account: a} })}
}

// Validate reports settings of driver_info that are missing or wrong.
func (d *Driver) Validate(n node.Node) error {
	t, err := parse(n)
	if err == nil {
		_, err = driverinfo.Silent(n)
	}
	if err == nil {
		_, err = t.tlsConfig(d.cas, d.tls)
	}
	return err
}

// call runs do as the only call at the BMC of n. Errors name the operation.
func (d *Driver) call(ctx context.Context, n node.Node, what string, do func(s *session) error) error {
	t, err := parse(n)
	if err != nil {
		return err
	}
	ctx = exchange.Of(ctx, n.Project())
	return d.pool.Call(ctx, t.base, t.account(), what, func(ctx context.Context, l *login) error {
		return describe(l.call(ctx, &t, do))
	})
}

// session is the context of a call: a client that is logged in, and the system of the node.
type session struct {
	ctx    context.Context //nolint:containedctx // of the call
	client *gofish.APIClient
	wire   *wire
	system *string // path, "" while not known
	chosen bool    // driver_info names the system
	log    *slog.Logger
	rows   []QuirkRow
	pause  func() error // between two tries; an error at the end of the call
}

// Close gives back all sessions. A BMC that does not answer keeps its session
// until that runs out by itself.
func (d *Driver) Close() error { return d.pool.Close() }
