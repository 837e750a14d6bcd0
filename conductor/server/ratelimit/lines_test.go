package ratelimit

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLines: lines beyond the limit are counted, and their number is logged once a minute.
func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		l := NewLines(slog.New(slog.NewTextHandler(&said, nil)), time.Now)
		for range 90 {
			for range 10 {
				l.Info("refused", "from", "192.0.2.1")
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		synctest.Wait() // for the writers of the text that is read now
		counts := []string{}
		for line := range strings.Lines(said.String()) {
			if _, n, found := strings.Cut(strings.TrimSpace(line), "count="); found {
				counts = append(counts, n)
			}
		}
		written := strings.Count(said.String(), "msg=refused")
		if len(counts) != 2 || written > linesBurst+2*90 {
			t.Fatalf("%d lines, and of more %q, want two a minute apart", written, counts)
		}
		if sum := sumOf(t, counts); sum+written != 900 {
			t.Errorf("%d lines and %d more, want 900 in all", written, sum)
		}
	})
}

func sumOf(t *testing.T, numbers []string) (sum int) {
	t.Helper()
	for _, s := range numbers {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
