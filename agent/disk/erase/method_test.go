package erase

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// able is, for each method, a drive that has it first.
var able = map[string]struct {
	device, transport string
	marks             Facts
	options           Options
	make              func(*fake)
}{
	"nvme_sanitize_crypto":      {device: "/dev/nvme0n1", make: func(f *fake) { f.sanicap, f.oacs = 3, 2 }},
	"nvme_sanitize_block":       {device: "/dev/nvme0n1", make: func(f *fake) { f.sanicap, f.oacs = 2, 2 }},
	"nvme_format_crypto":        {device: "/dev/nvme0n1", make: func(f *fake) { f.oacs, f.fna = 2, 4 }},
	"nvme_format_user_data":     {device: "/dev/nvme0n1", make: func(f *fake) { f.oacs = 2 }},
	"ata_secure_erase_enhanced": {device: "/dev/sda", transport: "sata", make: func(*fake) {}},
	"ata_secure_erase":          {device: "/dev/sda", transport: "sata", make: func(f *fake) { f.actions[0] = true }},
	"scsi_sanitize_crypto": {device: "/dev/sda", transport: "sas",
		make: func(f *fake) { f.actions[scsiCryptoErase], f.actions[scsiOverwrite] = true, true }},
	"scsi_sanitize_block": {device: "/dev/sda", transport: "sas",
		make: func(f *fake) { f.actions[scsiBlockErase] = true }},
	"scsi_sanitize_overwrite": {device: "/dev/sda", transport: "sas",
		make: func(f *fake) { f.actions[scsiOverwrite] = true }},
	"secure_discard": {device: "/dev/mmcblk0", transport: "mmc", marks: Facts{Discard: true},
		make: func(*fake) {}},
	"discard":   {device: "/dev/vda", marks: Facts{Discard: true, WriteZeros: true}, make: func(*fake) {}},
	"zero_out":  {device: "/dev/vda", marks: Facts{WriteZeros: true}, make: func(*fake) {}},
	"overwrite": {device: "/dev/vda", make: func(*fake) {}},
}

// usual are the options of an agent without settings.
func usual(t *testing.T) Options {
	t.Helper()
	o, err := OptionsFrom(nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// probed is a drive that has a method, and the facts about it.
func probed(t *testing.T, method string) (*fake, Facts) {
	t.Helper()
	a := able[method]
	f := newFake()
	a.make(f)
	facts := a.marks
	facts.Disk = describe(a.device, a.transport)
	if strings.HasPrefix(method, "nvme") {
		facts.nvme = &nvmeFacts{nsid: 1}
	}
	facts, err := facts.Probe(f)
	if err != nil {
		t.Fatal(err)
	}
	f.polls = 1 // from now on
	if method == "ata_secure_erase" {
		facts.ata.enhanced = false
	}
	return f, facts
}

// only erases by one method, in time that does not pass.
func only(t *testing.T, method string, f *fake, facts Facts) (d agentapi.ErasedDisk) {
	t.Helper()
	i := slices.IndexFunc(Methods(), func(m Method) bool { return m.Name == method })
	return erased(t, Methods()[i:i+1], f, facts, usual(t))
}

func erased(t *testing.T, table []Method, f *fake, facts Facts, o Options) (d agentapi.ErasedDisk) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &Run{
			Options: o, Step: "erase_devices", Log: slog.New(slog.DiscardHandler), Progress: func(agentapi.Progress) {},
			Open: func(context.Context, agentapi.Disk) (Drive, func(), error) { return f, func() {}, nil },
		}
		d = r.Disks(t.Context(), PlanOf(table, []Facts{facts}, o))[0]
	})
	return d
}

// TestEveryMethod: each method erases a drive that has it, and is the first of that drive's plan.
func TestEveryMethod(t *testing.T) {
	for _, m := range Methods() {
		t.Run(m.Name, func(t *testing.T) {
			f, facts := probed(t, m.Name)
			plan := Plan([]Facts{facts}, usual(t))[0]
			if len(plan.Methods) == 0 || plan.Methods[0] != m.Name {
				t.Errorf("planned %v; not taken %v", plan.Methods, plan.NotTaken)
			}
			d := only(t, m.Name, f, facts)
			if d.Method != m.Name || d.Error != "" || d.Verification == nil || !d.Verification.Passed ||
				d.Verification.Samples == 0 {
				t.Errorf("%+v, %+v", d, d.Verification)
			}
			if strings.Contains(string(f.mem), "old data") {
				t.Error("old data is still there")
			}
			r := agentapi.EraseReport{Version: agentapi.EraseReportVersion, NodeUUID: "u", Started: *d.Started,
				Finished: *d.Started, Disks: []agentapi.ErasedDisk{d}}
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoMethodIsBelieved: a drive that reports success and erases nothing is caught, with any method.
func TestNoMethodIsBelieved(t *testing.T) {
	for _, m := range Methods() {
		t.Run(m.Name, func(t *testing.T) {
			f, facts := probed(t, m.Name)
			f.lies = true
			method := m
			if m.Name == "overwrite" { // its lie is a write that goes nowhere
				erase := m.erase
				method.erase = func(ctx context.Context, j job) error {
					f.sunk = true
					return erase(ctx, j)
				}
			}
			d := erased(t, []Method{method}, f, facts, usual(t))
			if d.Method != "" || !strings.Contains(d.Error, ErrSurvived.Error()) ||
				d.Verification.Survivors != d.Verification.Canaries+d.Verification.Samples {
				t.Errorf("%+v, %+v", d, d.Verification)
			}
			if f.enabled || f.locked {
				t.Error("the drive was left with a password")
			}
		})
	}
}

// TestFailureIsReported: a drive that fails has failed, and is left as it should be.
func TestFailureIsReported(t *testing.T) {
	for _, m := range Methods() {
		if m.Name == "overwrite" {
			continue // no command of the drive's
		}
		t.Run(m.Name, func(t *testing.T) {
			f, facts := probed(t, m.Name)
			f.fails = errors.New("it cannot")
			d := only(t, m.Name, f, facts)
			if d.Method != "" || d.Error == "" || len(d.Attempts) != 1 || d.Attempts[0].Error == "" {
				t.Errorf("%+v", d)
			}
			if f.enabled || f.locked || f.sanitized == sanFailed || f.sense != nil {
				t.Error("the drive was left with a password, or in a failure of sanitize")
			}
		})
	}
}

// TestPartOfADiskIsMissed: erasing that leaves out a piece as large as two of
// the parts with a canary each is seen, always.
func TestPartOfADiskIsMissed(t *testing.T) {
	f, facts := probed(t, "overwrite")
	const from, size = 1 << 20, 18 * blockSize
	table := []Method{{Name: "sloppy", can: canOverwrite, erase: func(_ context.Context, j job) error {
		clear(f.mem[:from])
		clear(f.mem[from+size:])
		return nil
	}}}
	if d := erased(t, table, f, facts, usual(t)); !strings.Contains(d.Error, ErrSurvived.Error()) ||
		d.Verification.Survivors == 0 {
		t.Errorf("%+v, %+v", d, d.Verification)
	}
}

// TestPromisedZeroes: a device that says that discarded blocks read as zeroes
// is held to it.
func TestPromisedZeroes(t *testing.T) {
	f, facts := probed(t, "discard")
	if d := only(t, "discard", f, facts); d.Method != "discard" { // reads as anything, as it may
		t.Errorf("no promise: %+v", d)
	}
	facts.scsi = &scsiFacts{zeroes: true}
	if d := only(t, "discard", f, facts); !strings.Contains(d.Error, ErrSurvived.Error()) {
		t.Errorf("a broken promise: %+v", d)
	}
}

// TestDiskKeepsNothing: where canaries cannot be planted nothing is begun.
func TestDiskKeepsNothing(t *testing.T) {
	f, facts := probed(t, "nvme_format_user_data")
	f.sunk = true
	if d := only(t, "nvme_format_user_data", f, facts); !strings.Contains(d.Error, "throws writes away") ||
		!strings.Contains(string(f.mem), "old data") {
		t.Errorf("%+v", d)
	}
}

func TestATAPasswords(t *testing.T) {
	for name, c := range map[string]struct {
		state func(*fake)
		error string
		ends  bool // with a password
	}{
		"left locked by another agent": {func(f *fake) { f.enabled, f.locked = true, true }, "", false},
		"somebody else's password": {func(f *fake) { f.enabled, f.locked, f.foreign = true, true, true },
			"did not set", true},
		"holds a shared filesystem": {func(f *fake) {
			f.enabled, f.locked = true, true
			copy(f.mem[64<<10:], "\x01\x16\x19\x70")
		}, "gfs2", false},
		"password stays after failure": {func(f *fake) { f.fails, f.keepsPassword = errors.New("x"), true },
			"KEEPS ITS PASSWORD", true},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := probed(t, "ata_secure_erase_enhanced")
			c.state(f)
			facts, err := Facts{Disk: describe("/dev/sda", "sata")}.Probe(f)
			if err != nil {
				t.Fatal(err)
			}
			d := only(t, "ata_secure_erase_enhanced", f, facts)
			if f.enabled != c.ends || c.error == "" && d.Error != "" || !strings.Contains(d.Error, c.error) {
				t.Errorf("password %v, %+v", f.enabled, d)
			}
		})
	}
}

// TestNextMethod: after a failure of the drive's own erase the next is tried only if that is allowed, and the report
// keeps the failure.
func TestNextMethod(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		f, facts := probed(t, "nvme_format_crypto")
		facts.WriteZeros = true
		o := usual(t)
		o.Continue = allowed
		table := Methods()
		for i := range table {
			if table[i].Firmware {
				table[i].erase = func(context.Context, job) error { return errors.New("it broke") }
			}
		}
		d := erased(t, table, f, facts, o)
		if allowed && (d.Method != "zero_out" || len(d.Attempts) != 3 || d.Attempts[0].Error != "it broke") {
			t.Errorf("allowed: %+v", d)
		}
		if !allowed && (d.Method != "" || len(d.Attempts) != 1 || d.Error != "nvme_format_crypto: it broke") {
			t.Errorf("not allowed: %+v", d)
		}
	}
}

// TestAbort: methods that can stop do, and the others say that they cannot.
func TestAbort(t *testing.T) {
	for method, want := range map[string]string{"overwrite": "aborted at byte", "zero_out": "aborted at byte",
		"nvme_sanitize_crypto": "continues by itself", "scsi_sanitize_block": "continues by itself"} {
		t.Run(method, func(t *testing.T) {
			f, facts := probed(t, method)
			f.polls = 1 << 20
			ctx, cancel := context.WithCancel(t.Context())
			i := slices.IndexFunc(Methods(), func(m Method) bool { return m.Name == method })
			err := Methods()[i].erase(ctx, job{Drive: f, facts: facts, options: usual(t), progress: func(float64) { cancel() }})
			if whole := method == "zero_out"; whole { // small enough to be done in one go
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				err = Methods()[i].erase(ctx, job{Drive: f, facts: facts, options: usual(t), progress: func(float64) {}})
			}
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestNotAllOfADrive: methods that would erase another namespace too are not planned.
func TestNotAllOfADrive(t *testing.T) {
	const manage = 8
	for name, change := range map[string]func(*fake){
		"attached here":      func(f *fake) { f.namespaces = 2 },
		"attached elsewhere": func(f *fake) { f.elsewhere, f.oacs = 1, f.oacs|manage },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.sanicap, f.oacs, f.fna = 3, 2, 2
			change(f)
			facts, err := Facts{Disk: describe("/dev/nvme0n1", ""), nvme: &nvmeFacts{nsid: 1}}.Probe(f)
			if err != nil {
				t.Fatal(err)
			}
			p := Plan([]Facts{facts}, usual(t))[0]
			if !slices.Equal(p.Methods, []string{"overwrite"}) || !strings.Contains(p.NotTaken[0].Reason, "all 2 namespaces") ||
				!strings.Contains(p.NotTaken[3].Reason, "all 2 namespaces") {
				t.Errorf("%+v", p.ErasePlan)
			}
		})
	}
}

// TestBusySanitizing: a drive gets no new erase while it still does an aborted run's.
func TestBusySanitizing(t *testing.T) {
	for name, f := range map[string]*fake{"/dev/nvme0n1": {sanicap: 2}, "/dev/sda": {}} {
		f.mem, f.polls = make([]byte, fakeSize), 1
		_, err := Facts{Disk: describe(name, ""), nvme: &nvmeFacts{nsid: 1}}.Probe(f)
		if err == nil || !strings.Contains(err.Error(), "still under way (50 %)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
