package redfish_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// realDelays is for make bmc-personalities.
var realDelays = flag.Bool("real-delays", false,
	"do all checks, with passing deviations that last a second")

// quickChecks are those that most deviations touch; the others wait for make bmc-personalities.
var quickChecks = []string{"power", "boot device", "boot mode", "virtual media", "BIOS settings and firmware",
	bootsVirtualCD, changesBIOS}

// knownFailures are the checks that the driver does not pass yet, by personality. A check that passes although it is
// listed fails the test, so that the table only shrinks.
var knownFailures = map[string][]string{}

// TestPersonalities runs the suite over every personality of the lab's controller.
func TestPersonalities(t *testing.T) {
	var mu sync.Mutex
	checks, failed := 0, 0
	t.Run("of", func(t *testing.T) {
		for _, p := range lab.Personalities() {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				names := checkNames(p)
				ran, fails := runChecks(t, p, nil, names)
				mu.Lock()
				defer mu.Unlock()
				checks, failed = checks+ran, failed+len(fails)
				for name, reason := range fails {
					if !slices.Contains(knownFailures[p.Name], name) {
						t.Errorf("%s: %s", name, reason)
					}
				}
				for _, name := range knownFailures[p.Name] {
					if _, fails := fails[name]; !fails && slices.Contains(names, name) {
						t.Errorf("%s passes: take it out of the known failures", name)
					}
				}
			})
		}
	})
	fmt.Printf("bmc-personalities: %d personalities, %d checks, %d fail\n", len(lab.Personalities()), checks, failed)
}

// runChecks runs the checks named over one personality, by a driver with these quirks; nil for its own. It returns how
// many there were, and why some failed.
func runChecks(t *testing.T, p lab.Personality, quirks []redfish.QuirkRow,
	names []string) (ran int, fails map[string]string) {
	t.Helper()
	fails = map[string]string{}
	for _, c := range allChecks(p) {
		if !slices.Contains(names, c.name) {
			continue
		}
		b := newDeviant(t, p)
		r := &recorder{TB: t}
		d := redfish.New(redfish.Options{Pause: passingDelay() / 2, BackOff: time.Millisecond, MaxBackOff: time.Millisecond,
			Quirks: quirks})
		r.run(func() { c.run(r, insistent{d}, b) })
		if err := d.Close(); err != nil {
			r.Errorf("close: %v", err)
		}
		if !r.skipped {
			ran++
		}
		if len(r.reasons) > 0 {
			fails[c.name] = strings.Join(r.reasons, "; ")
		}
	}
	return ran, fails
}

// labCheck is a check of the suite, or a check that also looks at the machine.
type labCheck struct {
	name string
	run  func(t testing.TB, d insistent, b *deviant)
}

// bootsVirtualCD is the check that the boot device cdrom is the virtual CD.
const bootsVirtualCD = "virtual CD boots"

// changesBIOS is the check that a step changes BIOS settings.
const changesBIOS = "BIOS settings change"

func virtualCDBoots(t testing.TB, d insistent, b *deviant) {
	t.Helper()
	if err := d.SetBootDevice(t.Context(), b.node(), "cdrom", false); err != nil {
		t.Fatalf("boot device cdrom: %v", err)
	}
	if got := b.machine.Boot().Target; got != qemu.TargetCd {
		t.Errorf("the machine would boot from %s, want the virtual CD", got)
	}
}

// biosChanges does a step as the engine does: again and again, with the starts of the machine that it asks for.
func biosChanges(t testing.TB, d insistent, b *deviant) {
	t.Helper()
	step := node.Step{Interface: "bios", Step: "apply_configuration", Args: map[string]any{
		"settings": []any{map[string]any{"name": "QuietBoot", "value": false}}}}
	task := ""
	for end := time.Now().Add(100 * passingDelay()); ; time.Sleep(passingDelay() / 2) {
		var report node.StepReport
		err := insist(func() (err error) { report, err = d.DoStep(t.Context(), b.node(), step, task); return err })
		if err == nil && report.Reboot {
			err = d.SetPower(t.Context(), b.node(), node.Rebooting)
		}
		switch {
		case err != nil:
			t.Fatalf("%s: %v", changesBIOS, err)
		case report.Done:
			if got := b.State().BIOS["QuietBoot"]; got != false {
				t.Errorf("the step is done, and the setting is %v", got)
			}
			return
		case time.Now().After(end):
			t.Fatalf("the step is not done: %s", report.Note)
		}
		task = report.Task
	}
}

func allChecks(p lab.Personality) []labCheck {
	all := []labCheck{{bootsVirtualCD, virtualCDBoots}, {changesBIOS, biosChanges}}
	for _, c := range bmctest.Checks(limitsOf(p)) {
		all = append(all, labCheck{c.Name, func(t testing.TB, d insistent, b *deviant) {
			t.Helper()
			c.Run(t, d, b.node())
		}})
	}
	return all
}

// checkNames are the names of this run's checks: all of them with real delays.
func checkNames(p lab.Personality) (names []string) {
	if !*realDelays {
		return quickChecks
	}
	for _, c := range allChecks(p) {
		names = append(names, c.name)
	}
	return names
}

// Delays of passing deviations and of tasks.
const (
	shortDelay = 10 * time.Millisecond
	realFactor = 100 // multiple of the delays, for the delays of real controllers
)

// passingDelay is how long passing deviations last in this run.
func passingDelay() time.Duration {
	if *realDelays {
		return realFactor * shortDelay
	}
	return shortDelay
}

// limitsOf are the limits of machines behind a personality, which the engine knows how to work with.
func limitsOf(p lab.Personality) bmctest.Limits {
	has := func(d lab.Deviation) bool { return slices.Contains(p.Deviations, d) }
	return bmctest.Limits{
		Patience: 50 * passingDelay(), ModeAtStart: has(lab.ModeByJob),
		NextBoot: has(lab.NoContinuous) || has(lab.ContinuousRefused),
	}
}

// deviant is a bench with a personality.
type deviant struct {
	*bench
	personality lab.Personality
}

func newDeviant(t *testing.T, p lab.Personality) *deviant {
	t.Helper()
	conf, err := p.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	d := passingDelay()
	return &deviant{newBenchTLS(t, conf, func(c *lab.Config) {
		c.Personality, c.Now, c.TaskTime = p, time.Now, d
		c.Delays = lab.Delays{Answer: d / 10, Power: d, Busy: d, POST: d, NotReady: d, Eject: d}
	}), p}
}

// node is the machine behind the bench, with the settings that an operator makes for such a BMC.
func (d *deviant) node() node.Node {
	n := d.bench.node(redfishtest.Password)
	maps.Copy(n.DriverInfo, d.personality.DriverInfo())
	return n
}
