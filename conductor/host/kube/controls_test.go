package kube_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestControlCharacters: no text of a document, path or query takes a character
// that ends a text in a database or that a terminal obeys; nothing is kept of it.
func TestControlCharacters(t *testing.T) {
	s := start(t)
	const host = `{"metadata":{"name":"a","labels":{"l":"*"},"annotations":{"*":"*"}},"spec":{"online":true,"description":"*","image":{"url":"http://h/*","checksum":"http://h/sums"},"rootDeviceHints":{"model":"*"}}}`
	refused := func(request, body string) {
		t.Helper()
		for i := range body {
			if body[i] != '*' {
				continue
			}
			for _, control := range []string{`\u0000`, `\u001b`, `\u007f`} {
				bad := strings.ReplaceAll(body[:i], "*", "f") + control + strings.ReplaceAll(body[i+1:], "*", "f")
				if w := s.send(request, bad); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "control character") {
					t.Errorf("%s %s: %d %s", request, bad, w.Code, w.Body)
				}
			}
		}
	}
	refused("POST "+hosts, host)
	if all := s.ok(http.StatusOK, "GET "+hosts, ""); strings.Contains(all, `"name":"a"`) {
		t.Errorf("a refused host was kept: %s", all)
	}
	s.ok(http.StatusCreated, "POST "+hosts, strings.ReplaceAll(host, "*", "f"))
	refused("PUT "+hosts+"/a", host)
	refused("PATCH "+hosts+"/a\nContent-Type: application/merge-patch+json", `{"spec":{"description":"*"}}`)
	for _, path := range []string{hosts + "/%00", hosts + "?labelSelector=a%3D%1b", hosts + "?fieldSelector=%00", hosts + "?%00=1", "/api/v1/namespaces/%00/secrets"} {
		s.ok(http.StatusBadRequest, "GET "+path, "")
	}
	s.ok(http.StatusCreated, "POST "+secrets, `{"metadata":{"name":"a"},"stringData":{"userData":"#cloud-config\n\u001b"}}`)
}
