package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// maxLogins is the limit of logins in one verification with a wrong password.
const maxLogins = 3

// bmcPause is more than the driver's back-off after failures.
const bmcPause = 35 * time.Second

// badBMC verifies a node with a BMC that refuses, hangs, talks nonsense or hangs up: it goes back to enroll with the
// reason each time, in bounded time.
func badBMC(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	wrong := map[string]any{"driver_info": map[string]any{"redfish_address": m.URL, "redfish_username": m.Username,
		"redfish_password": "guess"}}
	n, err := s.Enroll(ctx, m, wrong)
	if err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if err := verifyFails(ctx, s, m.Name, "wrong password", m.Username); err != nil {
		return err
	}
	if c := m.BMC.Counters(); c.LoginFailures > maxLogins {
		return fmt.Errorf("wrong password: the BMC saw %d failed logins, at most %d are polite", c.LoginFailures, maxLogins)
	}
	patch := []nodeapi.Patch{{Op: "add", Path: "/driver_info/redfish_password", Value: m.Password}}
	if err := s.Call(ctx, "PATCH", "/v1/nodes/"+n.UUID, patch, nil); err != nil {
		return err
	}
	for _, f := range []redfish.FaultKind{redfish.Garbage, redfish.Drop, redfish.Hang} {
		if err := m.BMC.SetFault(redfish.Fault{Kind: f}); err != nil {
			return err
		}
		if err := verifyFails(ctx, s, m.Name, string(f), ""); err != nil {
			return err
		}
		m.BMC.ClearFault()
	}
	return wellAgain(ctx, s, m.Name)
}

// wellAgain verifies until the driver asks the BMC again.
func wellAgain(ctx context.Context, s *site.Site, name string) error {
	for end := time.Now().Add(bmcPause); ; time.Sleep(time.Second) {
		_, err := s.Ask(ctx, name, "manage", "manageable")
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return fmt.Errorf("the BMC is well again: %w", err)
		}
	}
}

// verifyFails asks for manage and expects enroll again, with a reason.
func verifyFails(ctx context.Context, s *site.Site, name, what, says string) error {
	start := time.Now()
	n, err := s.Ask(ctx, name, "manage", "enroll")
	if err != nil {
		return fmt.Errorf("BMC with %s: %w", what, err)
	}
	if n.LastError == "" || !strings.Contains(n.LastError, says) {
		return fmt.Errorf("BMC with %s: last_error %q does not say %q", what, n.LastError, says)
	}
	say("bad-bmc: as it should, after %.1f s: %s", time.Since(start).Seconds(), n.LastError)
	return nil
}
