package webhooks

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestHostileNames: for any text in a field, a message is one line of JSON with the same text, in every format.
func TestHostileNames(t *testing.T) {
	for _, text := range []string{"a\nb\r\n\r\nHTTP/1.1 200 OK", "\x1b[2J\x1b]0;t\a\x00\x7f", "\u202e\u2028\u2029\u009b5n",
		`"},{"type":"node.deleted"`, "\xff\xfe", strings.Repeat("long", 1<<16), "<script>&'"} {
		doc, err := json.Marshal(nodeapi.Event{Type: "node.state", At: text, Conductor: text, User: text, Project: text,
			Node: &nodeapi.EventNode{UUID: "u", Name: text, State: "clean failed", Target: text, Power: text, Fault: text,
				Error: text, Class: text, Instance: text, Group: text, Driver: text, Step: text},
			Changed: []string{text}, Moves: []nodeapi.EventMove{{From: text, On: text, To: "clean failed"}},
			Power: &nodeapi.EventPower{From: text, To: text}, Notes: []nodeapi.EventNote{{Text: text}},
			Ports: map[string]string{text: text}})
		if err != nil {
			t.Fatal(err)
		}
		e := node.ChangeEvent{Position: 7, At: time.Unix(0, 0), Type: "node.state", Node: text, Doc: doc}
		for format, of := range formats {
			m, err := of("base", e)
			if err != nil || m == nil {
				t.Fatalf("%s of %.20q: %v, %v", format, text, m, err)
			}
			if bytes.ContainsAny(m.body, "\n\r\x1b\x00") || !utf8.Valid(m.body) {
				t.Errorf("%s of %.20q is not one line of text: %.200q", format, text, m.body)
			}
			if m.id != "base-7" || strings.ContainsAny(m.id+m.media, "\r\n") {
				t.Errorf("%s of %.20q has the id %q and the type %q", format, text, m.id, m.media)
			}
			want := strings.ToValidUTF8(text, "\ufffd")
			if text == "\xff\xfe" { // each byte is replaced by itself
				want = "\ufffd\ufffd"
			}
			if got := errorOf(t, m.body); got != want {
				t.Errorf("%s says %.40q, want %.40q", format, got, want)
			}
		}
	}
}

// errorOf is the last error of the node in a message of any format.
func errorOf(t *testing.T, body []byte) string {
	t.Helper()
	var m struct {
		Data struct {
			Node nodeapi.EventNode `json:"node"`
		} `json:"data"`
		Payload struct {
			Data nodeapi.EventNode `json:"ironic_object.data"`
		} `json:"payload"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%v: %.200q", err, body)
	}
	return m.Data.Node.Error + m.Payload.Data.Error
}
