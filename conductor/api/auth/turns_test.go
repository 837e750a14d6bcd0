package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns: a sender of many passwords delays only itself. Others wait for one password of that sender.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const check = 50 * time.Millisecond
		turns := newTurns(maxTurns)
		took := func(ctx context.Context, from string) (time.Duration, error) {
			began := time.Now()
			leave, err := turns.enter(ctx, netip.MustParseAddr(from))
			if err != nil {
				return 0, err
			}
			time.Sleep(check)
			leave()
			return time.Since(began), nil
		}
		for i := range 400 { // of twenty networks
			from := fmt.Sprintf("10.0.0.%d", i%10)
			if i%20 >= 10 {
				from = fmt.Sprintf("2001:db8:0:%d::%d", i%10, i)
			}
			go took(t.Context(), from) // ends before the bubble does
		}
		synctest.Wait()
		if got, err := took(t.Context(), "10.9.9.9"); err != nil || got > 12*check {
			t.Errorf("one of another network waited %v, %v; 400 checks take %v", got, err, 400*check/maxTurns)
		}
		ctx, gone := context.WithTimeout(t.Context(), check/2)
		defer gone()
		if _, err := took(ctx, "10.0.0.1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one that went away: %v", err)
		}
		time.Sleep(time.Hour)
		turns.mu.Lock()
		defer turns.mu.Unlock()
		if len(turns.lines) != 0 || len(turns.places) != 0 {
			t.Errorf("%d networks and %d places are left", len(turns.lines), len(turns.places))
		}
	})
}
