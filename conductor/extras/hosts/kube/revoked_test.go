package kube_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/extras/hosts/kube"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// revocable knows an administrator until gone is set.
type revocable struct{ gone atomic.Bool }

func (a *revocable) Authenticate(http.ResponseWriter, *http.Request) (*auth.Caller, error) {
	if a.gone.Load() {
		return nil, nodeapi.NewFault(http.StatusUnauthorized, "Incorrect username or password")
	}
	return &auth.Caller{User: "ann", Role: auth.Admin}, nil
}

// TestWatchEndsWithItsUser: a watch of secrets, or of events, sends nothing more once its user is deleted.
func TestWatchEndsWithItsUser(t *testing.T) {
	for _, path := range []string{secrets, "/api/v1/events"} {
		synctest.Test(t, func(t *testing.T) {
			users := &revocable{}
			s := start(t, func(o *kube.Options, _ *objects.Config) { o.Auth = users })
			began := time.Now()
			ended := make(chan time.Duration)
			go func() {
				if w := s.send("GET "+path+"?watch=true", ""); w.Code != http.StatusOK {
					t.Errorf("the watch begins with %d", w.Code)
				}
				ended <- time.Since(began)
			}()
			time.Sleep(time.Minute)
			users.gone.Store(true)
			if took := <-ended; took < time.Minute || took > time.Minute+auth.CheckEvery {
				t.Errorf("%s: the watch ended after %v", path, took)
			}
		})
	}
}
