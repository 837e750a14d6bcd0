package openstack

import (
	"context"
	"net"
	"net/http"
	"os/exec"
)

// Place is where services run: they listen on its loopback. A *network.Namespace of a lab is one.
type Place interface {
	Start(cmd *exec.Cmd) error
	// Listen takes an address by IP.
	Listen(network, address string) (net.Listener, error)
	// Dial takes an address by IP.
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Here is the network of this process.
var Here Place = here{}

type here struct{}

func (here) Start(cmd *exec.Cmd) error { return cmd.Start() }

func (here) Listen(network, address string) (net.Listener, error) {
	return net.Listen(network, address)
}

func (here) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// client is for services at a place. It keeps no connection open: a server of Python's library serves one at a time,
// and would wait for the next request of it.
func client(at Place) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: at.Dial, DisableKeepAlives: true}}
}
