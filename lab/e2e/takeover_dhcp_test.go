package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// perfClients is how many machines perfdhcp plays. Their MACs count on from its first.
const perfClients = 64

var perfFirst = net.HardwareAddr{0x00, 0x0c, 0x01, 0x02, 0x03, 0x04}

// lentOver has Debian's perfdhcp ask for addresses and renew them while the leader is killed. No address is lent twice,
// none is lost, and the next leader answers all that the killed one has left unanswered.
func lentOver(database string) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) (err error) {
		r, done, err := b.room(ctx, database, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		if err := r.enrollPerf(ctx); err != nil {
			return err
		}
		host, err := r.Network.AddHost("perf", netip.PrefixFrom(r.members[1].address.Next(), r.Network.Subnet.Bits()))
		if err != nil {
			return err
		}
		p := &perf{room: r, host: host}
		for _, s := range []struct {
			when string
			run  func(context.Context) error
		}{
			{"addresses for the first time", p.lends}, {"renewals across a kill", p.renews},
			{"everybody at once across a kill", p.floods}, {"all again", p.lends},
		} {
			if err := s.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", s.when, err)
			}
			if err := p.check(ctx); err != nil {
				return fmt.Errorf("%s: %w", s.when, err)
			}
		}
		return nil
	}
}

// enrollPerf enrolls a node for each MAC of perfdhcp's.
func (r *room) enrollPerf(ctx context.Context) error {
	for i := range perfClients {
		mac := bytes.Clone(perfFirst)
		mac[5] += byte(i)
		var n nodeapi.Node
		err := r.Call(ctx, http.MethodPost, "/v1/nodes", map[string]any{"driver": "redfish"}, &n)
		if err == nil {
			err = r.Call(ctx, http.MethodPost, "/v1/ports", map[string]any{"node_uuid": n.UUID,
				"address": net.HardwareAddr(mac).String()}, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// perf is perfdhcp on a host of its own, and the addresses that were lent to its machines.
type perf struct {
	*room
	host *network.Namespace
	lent map[string]string // by MAC
}

// beforeKill is how long perfdhcp runs before the leader is killed.
const beforeKill = 5 * time.Second

// command is perfdhcp with the machines of the case.
func (p *perf) command(ctx context.Context, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := p.host.Command(ctx, "perfdhcp", append(append([]string{"-4", "-l", network.HostLink, "-R",
		strconv.Itoa(perfClients)}, args...), "all")...)
	said := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	return cmd, said
}

// lends asks for an address for each machine, several times, and wants every answer.
func (p *perf) lends(ctx context.Context) error {
	cmd, said := p.command(ctx, "-r", "20", "-n", "400", "-d", "5", "-W", "5000000")
	err := cmd.Run()
	n, perr := perfCounts(said.String())
	if err = errors.Join(err, perr); err != nil || n[0] != 400 || n[1] != 400 {
		return fmt.Errorf("expected 400 exchanges, all answered: %w\n%s", err, said)
	}
	return nil
}

// renews renews leases for half a minute, kills the leader meanwhile, and wants all unanswered requests to fall into
// the time without a leader. perfdhcp sends nothing twice here.
func (p *perf) renews(ctx context.Context) error {
	const rate, renewals = 20, 10 // a second
	cmd, said := p.command(ctx, "-r", strconv.Itoa(rate), "-f", strconv.Itoa(renewals), "-p", "30", "-d", "5", "-W",
		"5000000")
	began := time.Now()
	killed, gap, err := p.killBeside(ctx, beforeKill, cmd, said)
	if err != nil {
		return err
	}
	n, err := perfCounts(said.String())
	if err != nil || len(n) != 6 {
		return fmt.Errorf("expected the packets of three kinds of exchange: %w\n%s", err, said)
	}
	for i, r := range []int{rate, rate, renewals} { // discover and offer, request and ack, renewal and ack
		sent, lost := n[2*i], n[2*i]-n[2*i+1]
		if most := int(gap.Seconds()*float64(r)) + 2*r; lost > most {
			return fmt.Errorf("%d of %d exchanges are lost, expected at most %d, those of %s\n%s", lost, sent, most, gap, said)
		}
		if i == 2 && sent < renewals*5 {
			return fmt.Errorf("%d renewals in %s, expected more\n%s", sent, time.Since(began), said)
		}
	}
	return p.revive(ctx, killed)
}

// floods has all machines ask at once, and again until they are answered, as machines do after a power failure. The
// leader is killed before they begin.
func (p *perf) floods(ctx context.Context) error {
	cmd, said := p.command(ctx, "--scenario", "avalanche")
	killed, _, err := p.killBeside(ctx, 0, cmd, said)
	if err != nil {
		return err
	}
	if n, err := perfCounts(said.String()); err != nil || n[1] < perfClients {
		return fmt.Errorf("expected an answer for each of %d machines: %w\n%s", perfClients, err, said)
	}
	return p.revive(ctx, killed)
}

// killBeside kills the leader while perfdhcp runs. perfdhcp says by its status 3 that exchanges were lost.
func (p *perf) killBeside(ctx context.Context, wait time.Duration, cmd *exec.Cmd, said *bytes.Buffer) (killed *member,
	gap time.Duration, err error) {
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	time.Sleep(wait)
	began := time.Now()
	killed, err = p.takeOver(ctx, "beside perfdhcp")
	gap = time.Since(began)
	ended := cmd.Wait()
	var status *exec.ExitError
	if errors.As(ended, &status) && status.ExitCode() == 3 {
		ended = nil
	}
	if err = errors.Join(err, ended); err != nil {
		err = fmt.Errorf("%w\n%s", err, said)
	}
	return killed, gap, err
}

// check wants no address twice, and every address that was lent before.
func (p *perf) check(ctx context.Context) error {
	var all nodeapi.Leases
	if err := p.Call(ctx, http.MethodGet, nodeapi.FerriteRoot+"/leases", nil, &all); err != nil {
		return err
	}
	lent, of := map[string]string{}, map[string]string{}
	for _, l := range all.Leases {
		if other := of[l.IP]; other != "" {
			return fmt.Errorf("%s is lent to %s and to %s", l.IP, other, l.MAC)
		}
		lent[l.MAC], of[l.IP] = l.IP, l.MAC
	}
	for mac, ip := range p.lent {
		if lent[mac] != ip {
			return fmt.Errorf("%s had %s, and has %q", mac, ip, lent[mac])
		}
	}
	p.lent = lent
	say("%s: %d addresses are lent", p.name, len(lent))
	return nil
}

var perfNumber = regexp.MustCompile(`(?m)^(?:sent packets|received packets): (\d+)$`)

// perfCounts are the packets that were sent and received, of each kind of exchange.
func perfCounts(said string) (n []int, err error) {
	for _, m := range perfNumber.FindAllStringSubmatch(said, -1) {
		k, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, err
		}
		n = append(n, k)
	}
	if len(n) < 2 {
		return nil, errors.New("perfdhcp tells no numbers")
	}
	return n, nil
}
