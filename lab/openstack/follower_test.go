package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron/neutrontest"
)

// TestFollower: a switch follows the ports of a Neutron that are bound to it. When the switch fails, the request to
// Neutron fails.
func TestFollower(t *testing.T) {
	neutron := httptest.NewServer(neutrontest.New())
	defer neutron.Close()
	var heard []string
	var broken error
	f, err := NewFollower(Here, neutron.URL, func(port string, vlan int) error {
		heard = append(heard, fmt.Sprint(port, " ", vlan))
		return broken
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string) (status int, id string) {
		t.Helper()
		answer := httptest.NewRecorder()
		f.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, "/v2.0/"+path, strings.NewReader(body)))
		var is map[string]struct{ ID string }
		if err := json.NewDecoder(answer.Body).Decode(&is); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		for _, one := range is {
			id = one.ID
		}
		return answer.Code, id
	}
	_, red := ask(http.MethodPost, "networks", `{"network": {"provider:segmentation_id": 101}}`)
	_, blue := ask(http.MethodPost, "networks", `{"network": {"provider:segmentation_id": 102}}`)
	port := func(network, host string) string {
		return fmt.Sprintf(`{"port": {"network_id": %q, "binding:host_id": %q, "binding:profile":
			{"local_link_information": [{"port_id": "e1"}, {"port_id": "e2"}]}}}`, network, host)
	}
	_, first := ask(http.MethodPost, "ports", port(red, "node"))
	_, second := ask(http.MethodPost, "ports", port(blue, ""))
	if status, _ := ask(http.MethodPut, "ports/"+second, port(blue, "node")); status != http.StatusBadGateway {
		t.Errorf("in two networks at a time: %d", status)
	}
	ask(http.MethodDelete, "ports/"+second, "")
	ask(http.MethodDelete, "ports/"+first, "")
	want := []string{"e1 101", "e2 101", "e1 0", "e2 0"}
	if !slices.Equal(heard, want) {
		t.Errorf("the switch heard %q, expected %q", heard, want)
	}
	broken = errors.New("the switch is away")
	if status, _ := ask(http.MethodPost, "ports", port(red, "node")); status != http.StatusBadGateway {
		t.Errorf("a switch that does not follow: %d", status)
	}
}
