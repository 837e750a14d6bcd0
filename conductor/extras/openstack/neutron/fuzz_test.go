package neutron

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gophercloud/gophercloud/v2"
)

// FuzzReason: an error names the request and at most some words of Neutron's answer, which are text of one line.
func FuzzReason(f *testing.F) {
	for _, seed := range []string{
		`{"NeutronError":{"message":"Port is bound","type":"Bound"}}`, `{"NeutronError":"text"}`, `{"NeutronError":{"message":7}}`,
		"{\"NeutronError\":{\"message\":\"a\\u001b[31m\\nb\"}}", `<html>`, "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e := &Error{Method: "PUT", Path: "/v2.0/ports/p", err: gophercloud.ErrUnexpectedResponseCode{Actual: 409, Body: body}}
		said := e.Error()
		if !utf8.ValidString(said) || strings.ContainsAny(said, "\n\r\x1b") || len(said) > 8*maxWords {
			t.Errorf("%q", said)
		}
	})
}
