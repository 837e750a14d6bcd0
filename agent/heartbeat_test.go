package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"crypto/x509"
	"encoding/pem"

	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// beats notes when heartbeats came, and refuses the first ones.
type beats struct {
	began  time.Time
	at     []time.Duration
	refuse int
}

func (b *beats) Heartbeat(context.Context, string, agentapi.Heartbeat) error {
	b.at = append(b.at, time.Since(b.began))
	if len(b.at) <= b.refuse {
		return errors.New("no")
	}
	return nil
}

// beatFor runs a heartbeater for a while of virtual time; act may force.
func beatFor(t *testing.T, d time.Duration, ferrite bool, refuse int, act func(*heartbeater)) []time.Duration {
	b := &beats{began: time.Now(), refuse: refuse}
	s := &state{}
	if err := s.adopt(agentapi.LookupReply{
		Node:   agentapi.LookupNode{UUID: nodeUUID},
		Config: agentapi.LookupConfig{HeartbeatTimeout: 300, AgentToken: nodeToken, FerriteProgress: ferrite},
	}); err != nil {
		t.Fatal(err)
	}
	h := newHeartbeater(b, s, screen.NewBoard(), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	go act(h)
	if err := h.run(ctx, &commandServer{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	return b.at
}

func TestHeartbeatTimes(t *testing.T) {
	nothing := func(*heartbeater) {}
	forced := func(h *heartbeater) {
		time.Sleep(time.Second)
		h.force()
		h.force()
	}
	within := func(got, least, most time.Duration) bool { return got >= least && got <= most }
	tests := map[string]struct {
		ferrite     bool
		refuse      int
		act         func(*heartbeater)
		least, most time.Duration // of the second heartbeat
	}{
		"regular":                   {false, 0, nothing, 90 * time.Second, 180 * time.Second},
		"forced waits for 5 s":      {false, 0, forced, 5 * time.Second, 5 * time.Second},
		"forced at once":            {true, 0, forced, time.Second, time.Second},
		"after an error":            {false, 1, nothing, 5 * time.Second, 10 * time.Second},
		"after an error, ours":      {true, 1, nothing, time.Second, 2 * time.Second},
		"forcing waits for a retry": {false, 1, forced, 5 * time.Second, 10 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := beatFor(t, 200*time.Second, tc.ferrite, tc.refuse, tc.act)
				if at[0] != 0 || len(at) < 2 || !within(at[1], tc.least, tc.most) {
					t.Errorf("heartbeats at %v", at)
				}
			})
		})
	}
}

func TestHeartbeatLongOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := beatFor(t, 60*time.Second, true, 1000, func(*heartbeater) {})
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < time.Second || gap > 6*time.Second {
				t.Errorf("a gap of %v", gap)
			}
		}
	})
}

// reports notes progress.
type reports struct{ got []agentapi.Progress }

func (r *reports) Progress(_ context.Context, _ string, p agentapi.Progress) error {
	r.got = append(r.got, p)
	return nil
}

func TestProgressIsAtMostTwiceASecond(t *testing.T) {
	for _, ferrite := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r, s := &reports{}, &state{}
			s.looked.FerriteProgress, s.secret = ferrite, nodeToken
			p := newProgress(r, s, nil, slog.New(slog.DiscardHandler))
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
			defer cancel()
			go func() {
				for i := range 1000 {
					p.report(agentapi.Progress{Step: "write_image", Done: int64(i)})
					time.Sleep(5 * time.Millisecond)
				}
			}()
			p.run(ctx)
			want := 0
			if ferrite {
				want = 10
			}
			if len(r.got) < want || len(r.got) > want+1 || ferrite && r.got[len(r.got)-1].Done != 999 {
				t.Errorf("%d reports, the last %+v", len(r.got), r.got[max(0, len(r.got)-1):])
			}
		})
	}
}

func TestSelfSigned(t *testing.T) {
	now := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	_, text, err := selfSigned(netip.MustParseAddr("10.77.0.104"), now)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode([]byte(text))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if !cert.NotBefore.Equal(now.Add(-time.Hour)) || !cert.NotAfter.Equal(now.Add(30*24*time.Hour)) ||
		cert.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("valid from %v to %v, %v", cert.NotBefore, cert.NotAfter, cert.PublicKeyAlgorithm)
	}
	if err := cert.VerifyHostname("10.77.0.104"); err != nil {
		t.Error(err)
	}
}
