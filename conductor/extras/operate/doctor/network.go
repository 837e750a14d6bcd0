package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"golang.org/x/sync/errgroup"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// dhcpPatience is how long other DHCP servers have to answer.
const dhcpPatience = 3 * time.Second

// lookForDHCP asks for an address as an unknown machine. A conductor without discovery does not answer it.
func lookForDHCP(ctx context.Context, h Host) []Finding {
	if h.Boot == nil {
		return nil
	}
	mac := make(net.HardwareAddr, 6)
	rand.Read(mac)             // never fails
	mac[0] = mac[0]&0xfe | 0x2 // locally administered, one host's
	c, err := nclient4.New(h.Boot.Interface, nclient4.WithTimeout(dhcpPatience), nclient4.WithRetry(1),
		nclient4.WithHWAddr(mac))
	if err != nil {
		return []Finding{warn("run as root", "not looked for: %v", err)}
	}
	offer, err := c.DiscoverOffer(ctx)
	if err := errors.Join(err, c.Close()); err != nil || offer == nil {
		return []Finding{good("no other DHCP server answered on %s in %s", h.Boot.Interface, dhcpPatience)}
	}
	server := offer.ServerIdentifier()
	at, _, err := h.Boot.Address()
	switch {
	case err == nil && server.Equal(at.AsSlice()):
		return []Finding{good("only this conductor answers on %s", h.Boot.Interface)}
	case h.Boot.OtherDHCP:
		return []Finding{good("%s lends addresses on %s, as --other-dhcp says", server, h.Boot.Interface)}
	}
	return []Finding{bad("stop that server, or set --dhcp proxy, --dhcp off or --other-dhcp: ferrite docs boot-networks",
		"%s lends addresses on %s, too", server, h.Boot.Interface)}
}

// How long all BMCs may take, and how many are asked at a time.
const (
	bmcPatience = time.Minute
	bmcsAtOnce  = 32
	bmcsNamed   = 5
)

// lookAtBMCs asks the BMC of every node for its power state. The nodes come from a copy of the database.
func lookAtBMCs(ctx context.Context, h Host) (found []Finding) {
	nodes, err := h.nodes(ctx)
	if err != nil {
		return []Finding{warn("", "not asked: %v", err)}
	}
	bmcs, err := h.BMCs()
	if err != nil {
		return []Finding{bad("correct the setting", "%v", err)}
	}
	defer func() {
		if err := bmcs.Close(); err != nil {
			found = append(found, warn("", "sessions of BMCs were not ended: %v", err))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, bmcPatience)
	defer cancel()
	var mu sync.Mutex
	var asked int
	var silent []string
	var asking errgroup.Group
	asking.SetLimit(bmcsAtOnce)
	for _, n := range nodes {
		b := bmcs.Drivers[n.Driver]
		if b == nil || len(n.BMCAddresses()) == 0 || b.Validate(n) != nil {
			continue
		}
		asked++
		asking.Go(func() error {
			if _, err := b.PowerState(ctx, n); err != nil {
				mu.Lock()
				defer mu.Unlock()
				silent = append(silent, fmt.Sprintf("%s (%s): %v", n.Name, strings.Join(n.BMCAddresses(), " "), err))
			}
			return nil
		})
	}
	_ = asking.Wait() // none fails
	slices.Sort(silent)
	if len(silent) == 0 {
		return []Finding{good("BMCs that answer: %d of %d", asked, asked)}
	}
	text := fmt.Sprintf("BMCs that answer: %d of %d", asked-len(silent), asked)
	if more := len(silent) - bmcsNamed; more > 0 {
		silent = append(silent[:bmcsNamed], fmt.Sprintf("and %d more", more))
	}
	return []Finding{warn("ferrite bmc doctor ADDRESS", "%s; not:\n%s", text, strings.Join(silent, "\n"))}
}

// nodes are the nodes in the present database.
func (h Host) nodes(ctx context.Context) (nodes []node.Node, err error) {
	d := h.Folder
	if d.Server.URL != "" {
		return nil, errors.New("the nodes are on a database server; ask the conductor: " +
			"ferrite node list --fault 'power failure'")
	}
	if !d.Has(datafolder.DatabaseFile) {
		return nil, nil
	}
	ring, err := datafolder.Ring(d.Dir)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "ferrite-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	copied := filepath.Join(tmp, datafolder.DatabaseFile)
	if err := store.Snapshot(ctx, d.Path(datafolder.DatabaseFile), copied); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, copied, store.Options{Keys: ring, NoSync: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Nodes(ctx, node.Query{WithChildren: true})
}
