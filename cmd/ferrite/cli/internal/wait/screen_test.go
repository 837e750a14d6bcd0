package wait

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestStages: every new stage is shown once, and bytes at every tenth.
func TestStages(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	s := &Screen{w: &out, now: func() time.Time { return clock }}
	old := time.Unix(9, 0)
	l := s.Line("m1", nodeapi.Status{BootStages: []nodeapi.Stage{{Name: "of an earlier boot", At: old}}})
	wait := nodeapi.Status{State: "wait call-back", Activity: "deploy", Step: "deploy.write_image",
		Steps: []string{"a", "deploy.write_image"}, Index: 1}
	for _, done := range []int64{0, 1, 15e6, 16e6, 50e6, 100e6} {
		st := wait
		st.BootStages = []nodeapi.Stage{{Name: "offer", At: old}, {Name: "dhcp", At: old.Add(1)},
			{Name: "kernel", Detail: "vmlinuz", At: old.Add(2)}}
		st.Progress = &nodeapi.Progress{Step: "deploy.write_image", Done: done, Total: 100e6, Rate: 20e6}
		l.Show(st)
	}
	l.Show(nodeapi.Status{State: "deploying"})
	clock = clock.Add(90 * time.Second)
	l.finish("m1 is active")
	want := `m1     0.0 s  boot: dhcp
m1     0.0 s  boot: kernel vmlinuz
m1     0.0 s  done: a (1 of 2)
m1     0.0 s  wait call-back: deploy.write_image (2 of 2)
m1     0.0 s  deploy.write_image 15.0 MB of 100.0 MB, 15%, 20.0 MB/s
m1     0.0 s  deploy.write_image 50.0 MB of 100.0 MB, 50%, 20.0 MB/s
m1     0.0 s  deploy.write_image 100.0 MB of 100.0 MB, 100%, 20.0 MB/s
m1     0.0 s  deploying
m1    90.0 s  m1 is active
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBars: at a terminal each node has a line that is drawn anew, below those that stay, no wider than the terminal.
func TestBars(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{w: &out, size: output.Screen{Columns: 60}, now: func() time.Time { return time.Unix(0, 0) }}
	a, b := s.Line("a", nodeapi.Status{}), s.Line("b", nodeapi.Status{})
	st := nodeapi.Status{State: "wait call-back", Activity: "deploy", Step: "deploy.write_image",
		Steps: []string{"deploy.write_image"}}
	st.Progress = &nodeapi.Progress{Step: "write_image", Done: 5e6, Total: 10e6, Rate: 1e6, ETA: 5}
	a.Show(st)
	st.Progress = &nodeapi.Progress{Step: "write_image", Stage: "write", Total: 10e6, Rate: 0.4}
	b.Show(st)
	st.Step, st.Steps = "power.reboot", []string{"deploy.write_image", "power.reboot"}
	st.Index = 1
	a.Show(st) // the bytes belong to a step that is over
	a.finish("a is active")
	b.Close()
	got := strings.NewReplacer("\x1b", "ESC", "\r", "|").Replace(out.String())
	want := `a     0.0 s  wait call-back: deploy.write_image (1 of 1)
a  write_image 5.0 MB of 10.0 MB, 50%, 1.0 MB/s, 5s left
ESC[1A|ESC[Jb     0.0 s  wait call-back: deploy.write_image (1 of 1)
a  write_image 5.0 MB of 10.0 MB, 50%, 1.0 MB/s, 5s left
ESC[1A|ESC[Ja  write_image 5.0 MB of 10.0 MB, 50%, 1.0 MB/s, 5s left
b  [----------] write_image write 0 B of 10.0 MB, 0%
ESC[2A|ESC[Ja     0.0 s  wait call-back: power.reboot (2 of 2)
b  [----------] write_image write 0 B of 10.0 MB, 0%
ESC[1A|ESC[Ja     0.0 s  a is active
b  [----------] write_image write 0 B of 10.0 MB, 0%
ESC[1A|ESC[J`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProgressText: bytes are sizes, disks are counted, and a stage without either says so itself.
func TestProgressText(t *testing.T) {
	for want, p := range map[string]nodeapi.Progress{
		"write_image write 1.0 kB of 2.0 kB, 50%, 1.0 kB/s": {Step: "write_image", Stage: "write", Done: 1000, Total: 2000,
			Rate: 1000},
		"erase_devices_metadata /dev/vda 0 of 1":       {Step: "erase_devices_metadata", Stage: "/dev/vda", Total: 1},
		"write_image try 1 of 10 failed: no such host": {Step: "write_image", Stage: "try 1 of 10 failed: no such host"},
	} {
		if got := ProgressText(p); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// TestWarningsAndTries: doubts about an image come before its step, and failed tries of its download as they come; each
// once.
func TestWarningsAndTries(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{w: &out, size: output.Screen{Columns: 80}, now: func() time.Time { return time.Unix(0, 0) }}
	l := s.Line("m1", nodeapi.Status{})
	st := nodeapi.Status{State: "wait call-back", Activity: "deploy", Step: "deploy.write_image",
		Steps: []string{"deploy.write_image"}, Warnings: []string{"the image could not be checked: no such host"}}
	for _, stage := range []string{"", "try 1 of 3 failed: no such host", "try 1 of 3 failed: no such host",
		"try 2 of 3 failed: no such host"} {
		st.Progress = &nodeapi.Progress{Step: "write_image", Stage: stage}
		l.Show(st)
	}
	st.Progress = &nodeapi.Progress{Step: "write_image", Stage: "write", Done: 8e6, Total: 39.8e6, Rate: 3.4e6, ETA: 9}
	l.Show(st)
	l.Close()
	want := `m1     0.0 s  warning: the image could not be checked: no such host
m1     0.0 s  wait call-back: deploy.write_image (1 of 1)
m1     0.0 s  write_image try 1 of 3 failed: no such host
m1     0.0 s  write_image try 2 of 3 failed: no such host
m1  [##--------] write_image write 8.0 MB of 39.8 MB, 20%, 3.4 MB/s, 9s left
ESC[1A|ESC[J`
	got := strings.NewReplacer("\x1b", "ESC", "\r", "|").Replace(out.String())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
