package openstack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
)

// Follower stands before a Neutron in the place of a mechanism driver: before a request that changes something is
// answered, each port of the switch is in the VLAN of the Neutron port that is bound to it.
type Follower struct {
	// Set puts a port of the switch into a VLAN; 0: into none.
	Set func(port string, vlan int) error

	neutron string
	client  *http.Client
	proxy   *httputil.ReverseProxy
	mu      sync.Mutex
	vlans   map[string]int // by port of the switch, of those that were in one
}

// NewFollower makes a Follower before the Neutron at a URL of a place.
func NewFollower(at Place, neutron string, set func(port string, vlan int) error) (*Follower, error) {
	to, err := url.Parse(neutron)
	if err != nil {
		return nil, fmt.Errorf("follow Neutron: %w", err)
	}
	f := &Follower{Set: set, neutron: neutron, client: client(at), vlans: map[string]int{}}
	f.proxy = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, ModifyResponse: f.follow,
		Transport: f.client.Transport}
	return f, nil
}

// ServeHTTP passes a request on. The Neutron answers it, unless the switch could not follow.
func (f *Follower) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.proxy.ServeHTTP(w, r) }

// follow has the switch follow a change before its answer is given.
func (f *Follower) follow(answer *http.Response) error {
	if answer.Request.Method == http.MethodGet || answer.StatusCode >= http.StatusBadRequest {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	wanted, err := f.wanted()
	if err != nil {
		return err
	}
	for _, port := range slices.Sorted(maps.Keys(f.vlans)) {
		if _, ok := wanted[port]; !ok {
			wanted[port] = 0
		}
	}
	for _, port := range slices.Sorted(maps.Keys(wanted)) {
		if vlan := wanted[port]; f.vlans[port] != vlan {
			if err := f.Set(port, vlan); err != nil {
				return err
			}
			f.vlans[port] = vlan
		}
	}
	return nil
}

// wanted are the VLANs by port of the switch, as the bound ports of the Neutron have it.
func (f *Follower) wanted() (map[string]int, error) {
	var found struct {
		Ports []struct {
			ID      string `json:"id"`
			Network string `json:"network_id"`
			Host    string `json:"binding:host_id"`
			Profile struct {
				Links []struct {
					Port string `json:"port_id"`
				} `json:"local_link_information"`
			} `json:"binding:profile"`
		} `json:"ports"`
		Networks []struct {
			ID   string `json:"id"`
			VLAN int    `json:"provider:segmentation_id"`
		} `json:"networks"`
	}
	for _, path := range []string{"/v2.0/networks", "/v2.0/ports"} {
		if err := f.read(path, &found); err != nil {
			return nil, err
		}
	}
	vlans, wanted := map[string]int{}, map[string]int{}
	for _, n := range found.Networks {
		vlans[n.ID] = n.VLAN
	}
	for _, p := range found.Ports {
		for _, link := range p.Profile.Links {
			if p.Host == "" || link.Port == "" {
				continue
			}
			if before, twice := wanted[link.Port]; twice && before != vlans[p.Network] {
				return nil, fmt.Errorf("port %s of the switch is bound in the VLANs %d and %d at a time", link.Port, before,
					vlans[p.Network])
			}
			wanted[link.Port] = vlans[p.Network]
		}
	}
	return wanted, nil
}

func (f *Follower) read(path string, into any) error {
	answer, err := f.client.Get(f.neutron + path) //nolint:noctx // of a lab, on loopback
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
