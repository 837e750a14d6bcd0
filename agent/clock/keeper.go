package clock

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Kernel reads and sets clocks.
type Kernel interface {
	SetClock(t time.Time) error
	// ReadRTC and SetRTC return fs.ErrNotExist on a machine without RTC.
	ReadRTC() (time.Time, error)
	SetRTC(t time.Time) error
	// KernelBuilt is uname's version, which has the day of the kernel's build.
	KernelBuilt() string
}

// Keeper keeps the clocks of the machine right. A nil Keeper does nothing.
type Keeper struct {
	kernel Kernel
	log    *slog.Logger
	now    func() time.Time
	built  time.Time

	mu     sync.Mutex
	report agentapi.Clock // as it was before anything was set
	said   string         // the last Why that was logged
}

// NewKeeper reads the clocks, and sets the system's to the build of this ramdisk if it is
// before that.
func NewKeeper(k Kernel, log *slog.Logger) *Keeper {
	c := &Keeper{kernel: k, log: log, now: time.Now, built: Built(k.KernelBuilt())}
	c.begin()
	return c
}

func (c *Keeper) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.read()
	c.report.System = text(r.System)
	c.report.RTC = text(r.RTC)
	c.set(r)
}

// Heard takes the time of a conductor's answer.
func (c *Keeper) Heard(at time.Time, pinned bool) {
	if c == nil || at.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report.Conductor == "" {
		c.report.Conductor, c.report.Pinned = text(at), pinned
	}
	r := c.read()
	r.Conductor, r.Pinned = at, pinned
	c.set(r)
}

// Report is the clocks as they were at the start, and the conductor's time at its first
// answer; nil where the clocks are not ours.
func (c *Keeper) Report() *agentapi.Clock {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	report := c.report
	return &report
}

// String is the clocks for an error that may be theirs; "" where they are not ours.
func (c *Keeper) String() string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	conductor := "the conductor has said no time yet"
	if c.report.Conductor != "" {
		conductor = "the conductor said " + c.report.Conductor + " at first"
		if !c.report.Pinned {
			conductor += ", by a certificate that is not pinned"
		}
	}
	return fmt.Sprintf("this machine's clock says %s, %s", text(c.now()), conductor)
}

// read reads the clocks; the RTC's is zero on a machine without one.
func (c *Keeper) read() Reading {
	rtc, err := c.kernel.ReadRTC()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Debug("the RTC cannot be read", "err", err) // its battery may be empty
	}
	return Reading{System: c.now(), RTC: rtc, Built: c.built}
}

// set applies the result of Decide. It logs the same reason once.
func (c *Keeper) set(r Reading) {
	d := Decide(r)
	if d.Why != "" && d.Why != c.said {
		c.said = d.Why
		c.log.Warn("clock", "why", d.Why, "system", text(r.System), "rtc", text(r.RTC), "conductor", text(r.Conductor))
	}
	if !d.System.IsZero() {
		if err := c.kernel.SetClock(d.System); err != nil {
			c.log.Error("the clock is wrong and cannot be set", "err", err)
		} else {
			c.report.Set = text(d.System)
		}
	}
	if !d.RTC.IsZero() {
		if err := c.kernel.SetRTC(d.RTC); err != nil {
			c.log.Error("the RTC is wrong and cannot be set", "err", err)
		} else {
			c.report.RTCSet = true
		}
	}
}

func text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
