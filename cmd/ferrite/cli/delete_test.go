package cli_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestDeleteWaits: a host that is held is followed until it is let go.
func TestDeleteWaits(t *testing.T) {
	const held = `{metadata: {finalizers: [baremetalhost.metal3.io]}, status: {operationalStatus: OK, provisioning: {state: "powering off before delete"}}}`
	l := newLooked(t)
	if _, code := ferrite(t.Context(), l.URL, io.Discard, "host", "apply",
		"-f", writeFile(t, hostFile("old"))); code != 0 {
		t.Fatal("the host was not applied")
	}
	if err := become(l.keeper, "worker-0", held); err != nil {
		t.Fatal(err)
	}
	l.next = []string{held, `{metadata: {finalizers: []}}`}
	var out bytes.Buffer
	stderr, code := ferrite(t.Context(), l.URL, &out, "host", "delete", "worker-0")
	for _, want := range []string{"is being deleted; it is held by its finalizer baremetalhost.metal3.io",
		" s  powering off before delete\n", " s  deleted\n"} {
		if code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("exit %d, want %q in:\n%s%s", code, want, out.String(), stderr)
		}
	}
}
