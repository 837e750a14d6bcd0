package wait

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
m1     0.0 s  wait call-back: deploy.write_image (2 of 2)
m1     0.0 s  deploy.write_image 15%, 15.0 MB of 100.0 MB at 20.0 MB/s
m1     0.0 s  deploy.write_image 50%, 50.0 MB of 100.0 MB at 20.0 MB/s
m1     0.0 s  deploy.write_image 100%, 100.0 MB of 100.0 MB at 20.0 MB/s
m1     0.0 s  deploying
m1    90.0 s  m1 is active
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBar: a person sees a bar, which goes when the step is over.
func TestBar(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{w: &out, bars: true, now: time.Now}
	l := s.Line("m1", nodeapi.Status{})
	st := nodeapi.Status{State: "wait call-back", Activity: "deploy"}
	for _, p := range []nodeapi.Progress{{Step: "write", Done: 1}, {Step: "write", Done: 5e6, Total: 10e6},
		{Step: "verify", Done: 1e6, Total: 10e6}} {
		st.Progress = &p
		l.Show(st)
		time.Sleep(120 * time.Millisecond) // the bar is drawn ten times a second
		l.Show(st)
	}
	l.finish("m1 is active")
	l.Close()
	if text := out.String(); !strings.Contains(text, "write  50%") || !strings.Contains(text, "verify") ||
		!strings.HasSuffix(text, "m1 is active\n") || l.bar != nil {
		t.Errorf("screen:\n%q", text)
	}
}
