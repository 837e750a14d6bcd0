//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const (
	neighboursWell = 100
	neighboursIll  = 2000

	neighboursLimit = 4 * time.Minute
)

// illness says how the nth BMC that is ill answers.
var illness = []struct {
	name   string
	answer func(w http.ResponseWriter, r *http.Request)
}{
	{"silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	{"slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(4 * time.Second):
			http.Error(w, "busy", http.StatusInternalServerError)
		}
	}},
	{"garbage", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>{{{") }},
}

// BenchmarkNeighbours deploys healthy nodes alone, and again beside ill BMCs that are being verified.
func BenchmarkNeighbours(b *testing.B) { measureOnce(b, (*shared).benchNeighbours) }

func (s *shared) benchNeighbours(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, neighboursLimit)
	defer cancel()
	room := &bmcRoom{}
	defer func() { err = errors.Join(err, room.close()) }()
	return s.conductor(ctx, nil, func(address string, pid int) error {
		c := newCaller("http://" + address)
		well, err := c.createAt(ctx, room, neighboursWell, "127.1", func(int) http.Handler {
			return redfish.New(redfish.Config{Machine: redfishtest.NewMachine(), Username: redfishtest.User,
				Password: redfishtest.Password, Log: slog.New(slog.DiscardHandler)})
		})
		if err != nil {
			return err
		}
		ill, err := c.createAt(ctx, room, neighboursIll, "127.2", func(i int) http.Handler {
			return http.HandlerFunc(illness[i%len(illness)].answer)
		})
		if err != nil {
			return err
		}
		if err := c.all(ctx, well, "manage", "manageable"); err != nil {
			return err
		}
		if err := c.all(ctx, well, "provide", "available"); err != nil {
			return err
		}
		alone, err := c.deploys(ctx, well)
		if err != nil {
			return err
		}
		err = each(loadCallers, ill, func(id string) error {
			return c.call(ctx, "PUT", "/v1/nodes/"+id+"/states/provision", nodeapi.Provision{Target: "manage"}, nil)
		})
		if err != nil {
			return err
		}
		time.Sleep(time.Second)
		beside, err := c.deploys(ctx, well)
		if err != nil {
			return err
		}
		resident, err := residentMiB(pid)
		fmt.Printf("bench: deploys of %d healthy nodes: alone %.2f s, beside %d ill BMCs %.2f s, ratio %.2f; %.0f "+
			"MiB resident\n",
			neighboursWell, alone.Seconds(), neighboursIll, beside.Seconds(), beside.Seconds()/alone.Seconds(), resident)
		return err
	}, "--bmc-allow", "127.0.0.0/8")
}

// deploys says how long nodes take to become active, and takes them back.
func (c *caller) deploys(ctx context.Context, nodes []string) (time.Duration, error) {
	image := []nodeapi.Patch{{Op: "add", Path: "/instance_info", Value: map[string]any{
		"kernel": "http://127.0.0.1:9/k", "ramdisk": "http://127.0.0.1:9/r",
	}}}
	err := each(loadCallers, nodes, func(id string) error { return c.call(ctx, "PATCH", "/v1/nodes/"+id, image, nil) })
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := c.all(ctx, nodes, "active", "active"); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, c.all(ctx, nodes, "deleted", "available")
}

// createAt makes nodes with BMCs at addresses of their own in a network of the loopback.
func (c *caller) createAt(ctx context.Context, room *bmcRoom, count int, network string,
	bmc func(i int) http.Handler) (nodes []string, err error) {
	for i := range count {
		at, err := room.open(fmt.Sprintf("%s.%d.%d:0", network, i>>8, i&255), bmc(i))
		if err != nil {
			return nil, err
		}
		id, err := c.create(ctx, map[string]any{
			"driver": "redfish", "deploy_interface": "ramdisk", "boot_interface": "ipxe", "automated_clean": false,
			"driver_info": map[string]any{"redfish_address": "http://" + at, "redfish_username": redfishtest.User,
				"redfish_password": redfishtest.Password},
		})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, id)
	}
	return nodes, nil
}

// bmcRoom is BMCs, each with an address of its own.
type bmcRoom struct{ servers []*http.Server }

// open starts a BMC and returns its address.
func (r *bmcRoom) open(address string, handler http.Handler) (at string, err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("BMC at %s: %w", address, err)
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }() // until close
	r.servers = append(r.servers, srv)
	return l.Addr().String(), nil
}

func (r *bmcRoom) close() error {
	var failed []error
	for _, srv := range r.servers {
		failed = append(failed, srv.Close())
	}
	return errors.Join(failed...)
}
