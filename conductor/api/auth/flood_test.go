package auth

import (
	"fmt"
	"strings"
	"testing"
)

// TestGuessesDoNotFloodTheLog: a guess from another network each time is answered
// as such, and the log stays readable.
func TestGuessesDoNotFloodTheLog(t *testing.T) {
	h, _ := newHouse(t)
	for i := range 2000 {
		from := fmt.Sprintf("2001:db8:%x::1", i)
		if got := h.ask(from, "Authorization", "Bearer wrong"); !strings.HasPrefix(got, "401") {
			t.Fatalf("guess %d: %q", i, got)
		}
	}
	if n := strings.Count(h.log.String(), "login failed"); n < 20 || n > 200 {
		t.Errorf("%d lines of 2000 guesses, want 20 to %d", n, 200)
	}
}
