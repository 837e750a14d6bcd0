package pxetest

import (
	"context"
	"testing"
	"time"
)

// stopTime is how long a service may take to end once its context has.
const stopTime = time.Minute

// Serve runs a service until the test ends. A service that returns an error, or does not
// stop, fails the test.
func Serve(t *testing.T, serve func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(stopTime):
			t.Error("the service did not stop")
		}
	})
}
