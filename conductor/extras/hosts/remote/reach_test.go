package remote

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestReach: a group without a leader is away after a while, an unknown one too; a leader that does not answer is tried
// again all the same.
func TestReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := groups{"led": true, "dead": false}
		r := newReach(of, quiet)
		if changed := r.changes(); len(changed) > 0 || r.away("dead") != "" || r.away("unknown") != "" {
			t.Errorf("away at once: %v", changed)
		}
		fail := func() { r.failed("led", time.Now(), errors.New("cut off")) }
		fail()
		time.Sleep(patience)
		if r.away("led") != "" {
			t.Error("a call that failed long ago is not tried again")
		}
		fail()
		for group, want := range map[string]string{"led": "does not answer", "dead": "start or undrain",
			"unknown": hostapi.AnnotationGroup} {
			if got := r.away(group); !strings.Contains(got, want) || !strings.Contains(got, group) {
				t.Errorf("%s is away for %q", group, got)
			}
		}
		if changed := r.changes(); len(changed) != 3 {
			t.Errorf("changed: %v", changed)
		}
		of["dead"] = true
		r.answered("led")
		if r.away("led") != "" || r.away("dead") != "" {
			t.Error("still away")
		}
		if changed := r.changes(); len(changed) != 2 {
			t.Errorf("changed: %v", changed)
		}
		of["dead"] = false
		if r.away("dead") != "" {
			t.Error("away at once again")
		}
	})
}

// TestForgottenTrouble: a failure of long ago does not affect the next call, and groups without recent questions are
// forgotten.
func TestForgottenTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReach(groups{"led": true}, quiet)
		fail := func() { r.failed("led", time.Now(), errors.New("cut off")) }
		began := time.Now()
		time.Sleep(time.Minute)
		r.answered("led")
		if r.failed("led", began, errors.New("too late")); r.away("led") != "" {
			t.Error("away for a call that was slower than others")
		}
		time.Sleep(patience + time.Second)
		fail()
		if why := r.away("led"); why != "" {
			t.Errorf("away at once for %q", why)
		}
		time.Sleep(patience + time.Second)
		if r.changes(); len(r.groups) > 0 {
			t.Errorf("an old failure is kept: %v", r.groups)
		}
		for range 2 {
			fail()
			time.Sleep(patience)
		}
		fail()
		r.away("unknown")
		if changed := r.changes(); len(changed) != 1 {
			t.Errorf("changed: %v", changed)
		}
		time.Sleep(unasked + time.Second)
		if r.changes(); len(r.groups) > 0 {
			t.Errorf("trouble is kept that nobody asks about: %v", r.groups)
		}
	})
}
