package redfish

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

const drivePath = storagePath + "/Drives/1"

// A light is one, whichever of its two properties is written, and each
// resource has its own.
func TestIndicators(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{systemPath, chassisPath, drivePath} {
		for _, c := range []struct {
			patch  string
			status int
			want   string
		}{
			{`{"IndicatorLED": "Lit"}`, 204, `"IndicatorLED":"Lit","LocationIndicatorActive":true`},
			{`{"LocationIndicatorActive": false}`, 204, `"IndicatorLED":"Off","LocationIndicatorActive":false`},
			{`{"LocationIndicatorActive": true}`, 204, `"IndicatorLED":"Blinking","LocationIndicatorActive":true`},
			{`{"IndicatorLED": "Pink"}`, 400, `"IndicatorLED":"Blinking"`},
			{`{"IndicatorLED": "Off", "LocationIndicatorActive": true}`, 400, `"IndicatorLED":"Blinking"`},
			{`{}`, 400, `"IndicatorLED":"Blinking"`},
			{`{"SerialNumber": "x"}`, 400, `"IndicatorLED":"Blinking"`},
		} {
			response, _ := b.Call(t, http.MethodPatch, path, c.patch)
			_, body := b.Call(t, http.MethodGet, path, "")
			if response.StatusCode != c.status || !strings.Contains(body, c.want) {
				t.Errorf("%s %s: status %d, want %d and %s in %s", path, c.patch, response.StatusCode, c.status, c.want, body)
			}
		}
	}
	if response, _ := b.Call(t, http.MethodPatch, storagePath+"/Drives/7",
		`{"IndicatorLED": "Lit"}`); response.StatusCode != 404 {
		t.Errorf("a drive that is not there: %s", response.Status)
	}
}

// A patch of light and boot is taken whole, or not at all.
func TestHalfPatches(t *testing.T) {
	b := newBench(t)
	const untouched = `"IndicatorLED":"Off"`
	for _, c := range []struct {
		patch  string
		fail   error
		status int
	}{
		{`{"IndicatorLED": "Lit", "Boot": {"BootSourceOverrideTarget": "Tape"}}`, nil, 400},
		{`{"IndicatorLED": "Pink", "Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`, nil,
			400},
		{`{"IndicatorLED": "Lit", "Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`,
			errors.New("no room"), 500},
	} {
		b.machine.SetFailure(c.fail)
		response, _ := b.Call(t, http.MethodPatch, systemPath, c.patch)
		_, body := b.Call(t, http.MethodGet, systemPath, "")
		if response.StatusCode != c.status || !strings.Contains(body, untouched) ||
			b.machine.Boot().Target != qemu.TargetNone {
			t.Errorf("%s: status %d, want %d; boot is %+v in %s", c.patch, response.StatusCode, c.status, b.machine.Boot(), body)
		}
	}
	b.machine.SetFailure(nil)
	b.Send(t, http.MethodPatch, systemPath,
		`{"IndicatorLED": "Lit", "Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`, 204)
	if _, body := b.Call(t, http.MethodGet, systemPath, ""); !strings.Contains(body, `"IndicatorLED":"Lit"`) ||
		b.machine.Boot().Target != qemu.TargetPxe {
		t.Errorf("boot is %+v in %s", b.machine.Boot(), body)
	}
}

func TestSubscriptions(t *testing.T) {
	b := newBench(t)
	for _, bad := range []string{
		`{`, `{}`, `{"Destination": "h", "Protocol": "Redfish"}`, `{"Destination": "ftp://h/", "Protocol": "Redfish"}`,
		`{"Destination": "http://h/", "Protocol": "SNMPv2c"}`,
		`{"Destination": "http://h/", "Protocol": "Redfish", "EventTypes": ["Party"]}`,
	} {
		if response, body := b.Call(t, http.MethodPost, subscriptionsPath, bad); response.StatusCode != 400 {
			t.Errorf("%s: %s %s", bad, response.Status, body)
		}
	}
	const good = `{"Destination": "http://h/", "Protocol": "Redfish", "Context": "c", "EventTypes": ["Alert"]}`
	for i := range maxSubscriptions {
		response, _ := b.Call(t, http.MethodPost, subscriptionsPath, good)
		if want := fmt.Sprint(subscriptionsPath, "/", i+1); response.StatusCode != 201 ||
			response.Header.Get("Location") != want {
			t.Errorf("%s at %q, want %s", response.Status, response.Header.Get("Location"), want)
		}
	}
	if response, body := b.Call(t, http.MethodPost, subscriptionsPath, good); messageOf(t,
		body) != "EventSubscriptionLimitExceeded" {
		t.Errorf("one too many: %s", response.Status)
	}
	for _, want := range []int{204, 404} {
		if response, _ := b.Call(t, http.MethodDelete, subscriptionsPath+"/1", ""); response.StatusCode != want {
			t.Errorf("delete: %s, want %d", response.Status, want)
		}
	}
	if response, _ := b.Call(t, http.MethodGet, subscriptionsPath+"/1", ""); response.StatusCode != 404 {
		t.Errorf("a subscription that was deleted: %s", response.Status)
	}
}
