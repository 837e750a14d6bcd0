package host

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestDescribeObeysNoMachine: a host's texts, from its machine or the author of its document, command no terminal.
func TestDescribeObeysNoMachine(t *testing.T) {
	const hostile = "x\x1b]0;title\a\r\u202e\ny"
	h := hostapi.Host{
		ObjectMeta: hostapi.ObjectMeta{Name: "a", Annotations: map[string]string{"note": hostile}},
		Spec:       hostapi.HostSpec{Description: hostile, Image: &hostapi.Image{URL: hostile}},
		Status: hostapi.HostStatus{
			ErrorType: hostapi.InspectionError, ErrorMessage: hostile,
			Hardware: &hostapi.Hardware{SystemVendor: hostapi.SystemVendor{ProductName: hostile}},
		},
	}
	image := hostapi.DataImage{
		Spec:   hostapi.DataImageSpec{URL: hostile},
		Status: hostapi.DataImageStatus{Error: hostapi.DataImageError{Message: hostile}},
	}
	var out bytes.Buffer
	if err := writeSections(&out, hostSections(h, nodeapi.Status{Node: "n", LastError: hostile}, image)); err != nil {
		t.Fatal(err)
	}
	if at := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); at >= 0 ||
		!strings.Contains(out.String(), "title") {
		t.Errorf("at %d of %q", at, out.String())
	}
}
