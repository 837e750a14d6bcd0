package api

import "testing"

// TestStranger: bodies that anybody can send have a share of memory of their own.
func TestStranger(t *testing.T) {
	for path, want := range map[string]bool{
		"/v1/heartbeat/u": true, "/v1/lookup": true, "/v1/continue_inspection": true, "/ferrite/v1/agents/u/log": true,
		"/v1/nodes": false, "/v1/heartbeats": false, "/ferrite/v1/leases": false, "/": false,
	} {
		if got := stranger(path); got != want {
			t.Errorf("%s: anybody can call it: %v, want %v", path, got, want)
		}
	}
}
