package cli_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestWait follows a host through its life, right after its apply.
func TestWait(t *testing.T) {
	const (
		broken      = `{metadata: {generation: 1}, status: {operationalStatus: error, errorType: registration error, errorMessage: no route to host, errorCount: 1, triedCredentials: {credentials: {name: bmc-0}}, provisioning: {state: registering}}}`
		brokenAgain = `{status: {operationalStatus: error, errorType: registration error, errorMessage: no route to host, errorCount: 2, provisioning: {state: registering}}}`
		registering = `{status: {operationalStatus: OK, errorType: "", errorMessage: "", provisioning: {state: registering}}}`
		delayed     = `{status: {operationalStatus: delayed, provisioning: {state: available}}}`
		writing     = `{status: {operationalStatus: OK, provisioning: {state: provisioning, ID: 11111111-2222-4333-8444-555555555555}}}`
		old         = `{status: {operationalStatus: OK, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/old"}}}}`
		unseen      = `{status: {operationalStatus: OK, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/new"}}, conditions: [{type: Ready, status: "True", observedGeneration: 1, reason: Provisioned, message: "", lastTransitionTime: null}]}}`
		done        = `{status: {operationalStatus: OK, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/new"}}, conditions: [{type: Ready, status: "True", observedGeneration: 2, reason: Provisioned, message: "", lastTransitionTime: null}]}}`
		detached    = `{metadata: {annotations: {baremetalhost.metal3.io/detached: ""}}, status: {operationalStatus: detached, poweredOn: true, provisioning: {state: provisioned, image: {url: "http://images/new"}}}}`
	)
	for _, c := range []struct {
		name string
		next []string // the first is its state before the apply
		code int
		told []string
		err  string
	}{
		{"all the way", []string{"", registering, delayed, writing, done}, 0,
			[]string{"is to be provisioned", "registering", "available, delayed: as many other hosts are at work as may be",
				"provisioning", "deploying: deploy.write_image (1 of 1), waits for the agent", "provisioned",
				"worker-0 is provisioned"}, ""},
		{"the image that was there does not count", []string{old, old, old, registering, done}, 0,
			[]string{"is to be provisioned", "provisioned", "registering", "provisioned", "worker-0 is provisioned"}, ""},
		{"a document that was not seen yet does not count", []string{"", unseen, unseen, done}, 0,
			[]string{"is to be provisioned", "provisioned", "worker-0 is provisioned"}, ""},
		{"an error from before does not count", []string{broken, "", "", registering, done}, 0,
			[]string{"is to be provisioned", "registering, registration error: no route to host", "registering", "provisioned",
				"worker-0 is provisioned"}, ""},
		{"an error that comes again does", []string{broken, "", brokenAgain}, 1,
			[]string{"is to be provisioned", "registering, registration error: no route to host"},
			"host worker-0: registration error: no route to host\n  try: see that spec.bmc.address " +
				"redfish://10.0.0.1/redfish/v1/Systems/1 is right"},
		{"a detached host stays what it is", []string{"", detached}, 1,
			[]string{"is to be provisioned", "provisioned, detached"}, "it is detached, and provisioned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLooked(t)
			if _, code := ferrite(t.Context(), l.URL, io.Discard, "host", "apply",
				"-f", writeFile(t, hostFile("old"))); code != 0 {
				t.Fatal("the host was not applied")
			}
			l.next = c.next
			var out bytes.Buffer
			stderr, code := ferrite(t.Context(), l.URL, &out, "host", "apply", "--wait", "-f", writeFile(t, hostFile("new")))
			var told []string
			for line := range strings.Lines(out.String()) {
				if _, text, ok := strings.Cut(line, " s  "); ok {
					told = append(told, strings.TrimSuffix(text, "\n"))
				}
			}
			if d := cmp.Diff(c.told, told); d != "" || code != c.code || !strings.Contains(stderr, c.err) {
				t.Errorf("exit %d, want %d; told (-want +got):\n%s\n%s%s", code, c.code, d, out.String(), stderr)
			}
		})
	}
}

// TestApplyTakesOver: fields that no apply has set stay, and are named; an invalid last-applied annotation is refused.
func TestApplyTakesOver(t *testing.T) {
	l := newLooked(t)
	made := hostapi.Host{ObjectMeta: hostapi.ObjectMeta{Name: "worker-0", Namespace: "default"},
		Spec: hostapi.HostSpec{Description: "made by hand"}}
	made, err := objects.Create(t.Context(), l.keeper, made)
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, hostFile("new"))
	var out bytes.Buffer
	stderr, code := ferrite(t.Context(), l.URL, &out, "host", "apply", "-f", file)
	if code != 0 || !strings.Contains(stderr, "(BareMetalHost worker-0): it was not made by apply") ||
		!strings.HasSuffix(out.String(), "/worker-0 configured\n") {
		t.Errorf("exit %d:\n%s%s", code, out.String(), stderr)
	}
	after, err := objects.Get[hostapi.Host](t.Context(), l.keeper, "default", "worker-0")
	if err != nil || after.Spec.Description != made.Spec.Description || !after.Spec.Online {
		t.Errorf("the host has become %+v: %v", after.Spec, err)
	}
	after.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{"
	if _, err := objects.Update(t.Context(), l.keeper, after); err != nil {
		t.Fatal(err)
	}
	stderr, code = ferrite(t.Context(), l.URL, io.Discard, "host", "apply", "-f", file)
	if code != 1 || !strings.Contains(stderr, "remove the annotation") {
		t.Errorf("exit %d:\n%s", code, stderr)
	}
}
