package clock

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

var (
	now   = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	old   = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	built = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
)

func TestDecide(t *testing.T) {
	other := "the conductor has another time"
	for name, tc := range map[string]struct {
		given Reading
		want  Decision
	}{
		"nothing is known": {Reading{System: now}, Decision{}},
		"all are right":    {Reading{now, now, now, true, built}, Decision{}},
		"a few seconds":    {Reading{now.Add(4 * time.Second), now.Add(-time.Minute), now, true, built}, Decision{}},
		"the system's is wrong": {Reading{now.Add(6 * time.Second), now, now, true, built},
			Decision{System: now, Why: other}},
		"the RTC is wrong": {Reading{now, now.Add(61 * time.Second), now, true, built},
			Decision{RTC: now, Why: other}},
		"both, and late": {Reading{now.AddDate(9, 0, 0), now.AddDate(9, 0, 0), now, true, built},
			Decision{now, now, other}},
		"both, and early": {Reading{old, old, now, true, built}, Decision{now, now, other}},
		"no RTC":          {Reading{old, time.Time{}, now, true, built}, Decision{System: now, Why: other}},
		"local time": {Reading{now.Add(time.Hour), now.Add(time.Hour), now, true, time.Time{}},
			Decision{now, now, other}},
		"before the build": {
			Reading{System: old, RTC: old, Built: built},
			Decision{System: built, Why: "the clock is before this ramdisk was built"},
		},
		"not pinned": {Reading{now, now, now.Add(time.Hour), false, built},
			Decision{Why: "the conductor's time is not taken, since its answer could be anybody's: the kernel line pins no " +
				"certificate (ferrite-api-sha256)"}},
		"not pinned, all the same": {Reading{now, now, now, false, built}, Decision{}},
		"not pinned, early": {Reading{old, old, now, false, built}, Decision{System: built,
			Why: "the clock is before this ramdisk was built; the conductor's time is not taken, since its answer could be " +
				"anybody's: the kernel line pins no certificate (ferrite-api-sha256)"}},
		"the conductor's is wrong": {Reading{now, now, old, true, built},
			Decision{Why: "the conductor's time is not taken, since it is before this ramdisk was built, on 2026-03-01: set " +
				"the conductor's clock"}},
	} {
		if diff := cmp.Diff(tc.want, Decide(tc.given)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestBuilt(t *testing.T) {
	for version, want := range map[string]string{
		"#1 SMP PREEMPT_DYNAMIC Debian 6.1.148-1 (2025-08-26)": "2025-08-26T00:00:00Z",
		"#1 SMP Tue Aug 26 10:11:12 UTC 2025":                  "2025-08-26T10:11:12Z",
		"#1 SMP Tue Aug  5 10:11:12 UTC 2025":                  "2025-08-05T10:11:12Z",
		"#1 SMP Debian 6.1 (2025-18-26)":                       "",
		"(2025-08-26) later":                                   "",
		"":                                                     "",
	} {
		if got := text(Built(version)); got != want {
			t.Errorf("%q: built %s, want %s", version, got, want)
		}
	}
}

// machine has clocks that go wrong.
type machine struct {
	system, rtc time.Time
	noRTC       bool
	broken      error
}

func (m *machine) SetClock(t time.Time) error {
	if m.broken == nil {
		m.system = t
	}
	return m.broken
}

func (m *machine) ReadRTC() (time.Time, error) {
	if m.noRTC {
		return time.Time{}, fs.ErrNotExist
	}
	return m.rtc, m.broken
}

func (m *machine) SetRTC(t time.Time) error { m.rtc = t; return m.broken }
func (m *machine) KernelBuilt() string      { return "#1 SMP Debian 6.1.148-1 (2026-03-01)" }

// keeperOf is NewKeeper with the machine's clock in place of the test's.
func keeperOf(m *machine, log *slog.Logger) *Keeper {
	c := &Keeper{kernel: m, log: log, now: func() time.Time { return m.system }, built: Built(m.KernelBuilt())}
	c.begin()
	return c
}

func TestKeeper(t *testing.T) {
	var log bytes.Buffer
	m := &machine{system: old, rtc: old}
	c := keeperOf(m, slog.New(slog.NewTextHandler(&log, nil)))
	if m.system != built || m.rtc != old {
		t.Errorf("at the start: clock %v, RTC %v", m.system, m.rtc)
	}
	for range 3 {
		c.Heard(now.Add(time.Hour), false)
	}
	if m.system != built || strings.Count(log.String(), "anybody") != 1 {
		t.Errorf("an answer of anybody: clock %v, log\n%s", m.system, &log)
	}
	c.Heard(time.Time{}, true) // an answer without a date
	c.Heard(now, true)
	if m.system != now || m.rtc != now {
		t.Errorf("a pinned answer: clock %v, RTC %v", m.system, m.rtc)
	}
	want := &agentapi.Clock{System: "2001-01-01T00:00:00Z", RTC: "2001-01-01T00:00:00Z", Conductor: "2026-11-23T13:00:00Z",
		Set: "2026-11-23T12:00:00Z", RTCSet: true}
	if diff := cmp.Diff(want, c.Report()); diff != "" {
		t.Error(diff)
	}
}

func TestKeeperWithoutRTC(t *testing.T) {
	var log bytes.Buffer
	m := &machine{system: old, noRTC: true}
	c := keeperOf(m, slog.New(slog.NewTextHandler(&log, nil)))
	c.Heard(now, true)
	if m.system != now || strings.Contains(log.String(), "ERROR") {
		t.Errorf("clock %v, log\n%s", m.system, &log)
	}
	if got := c.Report(); got.RTC != "" || got.RTCSet || !got.Pinned {
		t.Errorf("report %+v", got)
	}
	m.system, m.broken = old, errors.New("operation not permitted")
	c.Heard(now, true)
	if !strings.Contains(log.String(), "cannot be set") {
		t.Errorf("a clock that cannot be set: log\n%s", &log)
	}
	var none *Keeper
	none.Heard(now, true)
	if none.Report() != nil || none.String() != "" {
		t.Error("a machine whose clocks are not ours has a report")
	}
}
