package openstack

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"sync"

	"github.com/gophercloud/gophercloud/v2"
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
var Here Place = &here{}

type here struct {
	once   sync.Once
	starts chan func() // done by one thread
}

// Start starts a command from a thread that lasts as long as this process. The kernel sends the parent-death signal
// when the thread that started a command ends, and a thread that has entered the namespace of a lab ends with that.
func (h *here) Start(cmd *exec.Cmd) error {
	h.once.Do(func() {
		h.starts = make(chan func())
		go func() {
			runtime.LockOSThread()
			for start := range h.starts {
				start()
			}
		}()
	})
	started := make(chan error, 1)
	h.starts <- func() { started <- cmd.Start() }
	return <-started
}

func (*here) Listen(network, address string) (net.Listener, error) {
	return net.Listen(network, address)
}

func (*here) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// client is for services at a place. It keeps no connection open: a server of Python's library serves one at a time,
// and would wait for the next request of it.
func client(at Place) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: at.Dial, DisableKeepAlives: true}}
}

// serviceClient is a client of an API of OpenStack's at a URL, for a logged-in user.
func serviceClient(of *gophercloud.ProviderClient, kind, url string) *gophercloud.ServiceClient {
	return &gophercloud.ServiceClient{ProviderClient: of, Endpoint: url + "/", Type: kind}
}
