package serve

import (
	"context"
	"errors"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/bmc/exchangelog"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/imagestore/imagesource"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
)

// newExtras are the extras of a conductor, with empty settings. A build tag (nohosts, noopenstack, nosignals) puts
// plain in the place of one, and links none of its packages; nooperate leaves out the commands of operate.go.
func newExtras() []extra { return []extra{newHosts(), newOpenStack(), newSignals()} }

// extra is the settings of an extra, and its wiring. The methods are called in
// the order here, from one goroutine.
type extra interface {
	// settings declare the settings, by the row of flags that shows them.
	settings() map[string]func(*settings)
	// secrets are paths of files that systemd may hand over in another place.
	secrets() []*string
	// check refuses settings that cannot work, before anything is made or opened.
	check(c *Config) error
	// identity completes how callers of the API log in.
	identity(c *Config, o *auth.Options) error
	// join makes the parts of a conductor, or of a term, and enters them in w. An error ends the start.
	join(ctx context.Context, w *work, p parts) error
}

// plain is an extra that adds nothing. Extras embed it for the methods they do not need; it also stands in for an extra
// that is not built in.
type plain struct{}

func (plain) settings() map[string]func(*settings)     { return nil }
func (plain) secrets() []*string                       { return nil }
func (plain) check(*Config) error                      { return nil }
func (plain) identity(*Config, *auth.Options) error    { return nil }
func (plain) join(context.Context, *work, parts) error { return nil }

// extraFlags declares the settings that extras have for a row of flags.
func (c *Config) extraFlags(row string) func(*settings) {
	return func(s *settings) {
		for _, e := range c.extras {
			if add := e.settings()[row]; add != nil {
				add(s)
			}
		}
	}
}

// checkExtras refuses settings of extras that cannot work.
func (c *Config) checkExtras() (err error) {
	for _, e := range c.extras {
		err = errors.Join(err, e.check(c))
	}
	return err
}

// openExtras has all extras join.
func (w *work) openExtras(ctx context.Context, p parts) error {
	for _, e := range w.conf.extras {
		if err := e.join(ctx, w, p); err != nil {
			return err
		}
	}
	return nil
}

// joined is all that extras entered before the engine is made.
type joined struct {
	glance imagesource.Glance // nil for none
	tracer exchangelog.Tracer // of calls to machines; nil for none

	made       []func(*engine.Engine)  // enter their listeners, before nodes are taken up
	readers    []reader                // of events
	imageAdded []func(name string)     // listeners of images
	configured []func(*engine.Config)  // complete the engine's settings
	measured   []func(*metrics.Config) // complete the metrics
	served     []func(*api.Options)    // complete the API
	takenUp    []func()                // called once the nodes of the last run are taken up
	reachable  []func(context.Context) // run once other leaders can call this one
	lasting    []func(context.Context) // run until the engine has ended
}

// reader reads the events of the default group beside the conductor.
type reader struct {
	run func(context.Context)
	// needed is the position after which it needs the events, given the newest; negative for none. Nil: it needs none.
	needed func(newest int64) int64
}

// needed is the position after which any reader needs the events, negative for none.
func (j *joined) needed(newest int64) int64 {
	least := int64(-1)
	for _, r := range j.readers {
		if r.needed == nil {
			continue
		}
		if at := r.needed(newest); at >= 0 && (least < 0 || at < least) {
			least = at
		}
	}
	return least
}
