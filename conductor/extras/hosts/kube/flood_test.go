package kube_test

import (
	"net/http"
	"strings"
	"testing"
)

// A document in which very much is wrong is answered with as much as a person reads.
func TestVeryMuchWrong(t *testing.T) {
	s := start(t)
	body := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","ownerReferences":[` +
		strings.Repeat("{},", 100_000) + `{}]}}`
	answer := s.ok(http.StatusUnprocessableEntity, "POST /api/v1/namespaces/default/secrets", body)
	if len(answer) > 64<<10 || !strings.Contains(answer, "metadata.ownerReferences[0].apiVersion") {
		t.Errorf("%d bytes are answered: %.300s", len(answer), answer)
	}
}
