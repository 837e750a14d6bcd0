package extension

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// power notes how this boot would end.
type power struct {
	Power
	asked []string
}

func (p *power) Kexec() error        { p.asked = append(p.asked, "kexec"); return errors.New("no kernel") }
func (p *power) UnloadKernel() error { p.asked = append(p.asked, "unload"); return nil }

// TestKexec fails to load a kernel, and to start one.
func TestKexec(t *testing.T) {
	p := &power{}
	h := &Host{
		Power: p, Machine: &steps.Machine{EFIVars: func() disk.EFIVars { return nil }, Log: slog.New(slog.DiscardHandler)},
	}
	c, ok := h.All()["standby"]["kexec"]
	if !ok || c.Async || agentapi.KexecCommand != "standby.kexec" {
		t.Fatalf("standby.kexec is there: %v, async: %v", ok, c.Async)
	}
	var ce *agentapi.CommandError
	for params, want := range map[string]string{`{"target_boot_mode":"uefi"}`: "runs by bios",
		`{}`:                     "no image was written",
		`{"target_boot_mode":7}`: "cannot unmarshal"} {
		if result, err := c.Run(t.Context(), json.RawMessage(params)); !errors.As(err, &ce) || result != nil ||
			!strings.Contains(ce.Details, want) {
			t.Errorf("%s: result %v, error %v, want %q", params, result, err, want)
		}
	}
	if err := c.After(); !errors.As(err, &ce) || ce.Details != "no kernel" ||
		strings.Join(p.asked, " ") != "kexec unload" {
		t.Errorf("error %v, asked for %v", err, p.asked)
	}
}
