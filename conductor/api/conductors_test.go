package api_test

import (
	"net/http"
	"testing"
	"time"
)

// TestConductorIsAlive: clients that tell by updated_at whether a conductor lives see
// that it does.
func TestConductorIsAlive(t *testing.T) {
	c := newConductor(t)
	doc := c.must(http.StatusOK, 115, "GET", "/v1/conductors/conductor-1", "").doc(t)
	for _, field := range []string{"created_at", "updated_at"} {
		text, _ := doc[field].(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || time.Since(at) > time.Minute {
			t.Errorf("%s: %v, %v", field, doc[field], err)
		}
	}
}
