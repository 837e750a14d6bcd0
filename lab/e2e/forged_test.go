//go:build bootways

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// agentPort is where agents take commands (ironic-python-agent's).
const agentPort = "9999"

// waits bounds a request to the conductor, and the head of one of its own.
const waits = time.Minute

// forged has a machine erased by its real agent, and meanwhile claimed by another host of the boot network. That host
// sends all that an agent sends, and takes the conductor's calls at the machine's own address. Every claim is refused,
// the node says why its agent is not believed, and the erase ends once the address is the machine's again.
func forged(ctx context.Context, b *bed) (err error) {
	spec := machine("metal-1", qemu.BIOS)
	spec.Disks = []qemu.Disk{{SizeMB: 128, Plain: true}} // overwritten, which takes a while
	s, done, err := b.site(ctx, []qemu.Spec{spec})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if err := fill(m.Spec().Disks[0]); err != nil {
		return err
	}
	n, err := s.Enroll(ctx, m, nil)
	if err != nil {
		return fmt.Errorf("enroll: %w", err)
	}
	if err := b.commands(ctx, s, "node manage metal-1 --wait", "node inspect metal-1 --wait"); err != nil {
		return err
	}
	var before, after json.RawMessage
	inventory := "/v1/nodes/metal-1/inventory"
	if err := s.Call(ctx, http.MethodGet, inventory, nil, &before); err != nil {
		return err
	}
	f, err := newForger(ctx, s, m.Spec().NICs[0].MAC, n.UUID)
	if err != nil {
		return err
	}
	defer f.server.Close()
	b.lap("inspected")
	if err := b.commands(ctx, s, "node clean metal-1 --step deploy.erase_devices"); err != nil {
		return err
	}
	if err := f.claims(ctx, m.Name); err != nil {
		return err
	}
	b.lap("claimed")
	if _, err := s.Until(ctx, m.Name, "manageable"); err != nil {
		return err
	}
	b.lap("erased")
	if left, err := secrets(m.Spec().Disks[0]); err != nil || left != 0 {
		return errors.Join(fmt.Errorf("the disk holds %d secrets after it was erased", left), err)
	}
	list, err := b.eraseReports(ctx, s, m)
	if err != nil || len(list) != 1 || list[0].Failed || list[0].Erased != 1 {
		return errors.Join(fmt.Errorf("the erase reports are %+v, expected the machine's alone", list), err)
	}
	if err := s.Call(ctx, http.MethodGet, inventory, nil, &after); err != nil || !bytes.Equal(before, after) {
		return errors.Join(fmt.Errorf("the inventory has changed to %s", after), err)
	}
	if f.asked.Load() > 0 {
		return fmt.Errorf("the conductor sent %d requests to the host that claims to be the machine", f.asked.Load())
	}
	return nil
}

// forger is a host of the boot network that claims to be a machine.
type forger struct {
	site          *site.Site
	mac, uuid     string     // of the machine
	address, host netip.Addr // of the machine, which the host has, too, and its own
	http          *http.Client
	server        *httptest.Server
	called, asked atomic.Int64 // connections that were meant for the agent, and requests over them
}

// newForger makes the host. It has the machine's address behind its own, and does not announce that by ARP, since the
// machine itself would see it. It takes the calls of an agent with a certificate of its own.
func newForger(ctx context.Context, s *site.Site, mac, uuid string) (*forger, error) {
	var got struct {
		Leases []nodeapi.Lease `json:"leases"`
	}
	if err := s.Call(ctx, http.MethodGet, "/ferrite/v1/leases", nil, &got); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(got.Leases, func(l nodeapi.Lease) bool { return l.MAC == mac })
	if at < 0 {
		return nil, fmt.Errorf("%s has no lease among %+v", mac, got.Leases)
	}
	host, err := s.Network.AddHost("forger", onLab(s))
	if err != nil {
		return nil, err
	}
	f := &forger{site: s, mac: mac, uuid: uuid, host: onLab(s).Addr(), address: netip.MustParseAddr(got.Leases[at].IP)}
	f.http = &http.Client{Transport: &http.Transport{DialContext: host.Dial, DisableKeepAlives: true}, Timeout: waits}
	quiet := func() error { return os.WriteFile("/proc/sys/net/ipv4/conf/all/arp_ignore", []byte("1"), 0) }
	if err := errors.Join(host.Do(quiet), host.Address("lo", netip.PrefixFrom(f.address, 32))); err != nil {
		return nil, err
	}
	l, err := host.Listen("tcp4", "0.0.0.0:"+agentPort)
	if err != nil {
		return nil, err
	}
	f.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(f.answer),
		ReadHeaderTimeout: waits, ErrorLog: log.New(io.Discard, "", 0), ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				f.called.Add(1)
			}
		}}}
	f.server.StartTLS()
	return f, nil
}

// answer answers as an agent that has erased everything.
func (f *forger) answer(w http.ResponseWriter, _ *http.Request) {
	f.asked.Add(1)
	_, _ = io.WriteString(w, `{"commands":[{"id":"1","command_name":"execute_clean_step","command_status":"SUCCEEDED",`+
		`"command_error":null,"command_result":{"clean_result":{"erased":[]},"clean_step":{"interface":"deploy",`+
		`"step":"erase_devices"}}}]}`)
}

// way leads the conductor's calls to the agent to the forger, as a host that answers ARP for the machine's address and
// hands all else on would, or not any more.
func (f *forger) way(ctx context.Context, verb string) error {
	const table = "100"
	for _, args := range [][]string{
		{"route", verb, f.address.String(), "via", f.host.String(), "dev", network.BridgeName, "table", table},
		{"rule", verb, "to", f.address.String(), "ipproto", "tcp", "dport", agentPort, "lookup", table},
	} {
		if out, err := f.site.Network.Command(ctx, "ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// claims takes the machine's address as soon as its agent erases, and sends all that an agent sends until the node says
// that its agent has another certificate. Then the address is the machine's again.
func (f *forger) claims(ctx context.Context, name string) error {
	begun := func(st nodeapi.Status) bool { return st.State == "clean wait" && st.Step == "deploy.erase_devices" }
	if err := errors.Join(moment(ctx, f.site, name, begun), f.way(ctx, "add")); err != nil {
		return fmt.Errorf("claim a machine that is being erased: %w", err)
	}
	const told = "its certificate is not the one its heartbeat announced"
	for {
		if err := f.claimAll(ctx); err != nil {
			return err
		}
		st, err := f.site.Status(ctx, name)
		switch {
		case err != nil:
			return err
		case strings.Contains(st.WaitingFor, told) && f.called.Load() > 0:
			return f.way(ctx, "del")
		case st.State != "clean wait" && st.State != "cleaning":
			return fmt.Errorf("the node is %+v, expected a word of its agent's certificate", st)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// claimAll sends a request of each kind, with a word that no conductor gave. All must be refused.
func (f *forger) claimAll(ctx context.Context) error {
	word, own := strings.Repeat("f", 32), agentapi.AgentsPath+f.uuid
	token := `{"agent_token":"` + word + `",`
	inventory := `{"inventory":{"interfaces":[{"name":"eth0","mac_address":"` + f.mac + `"}],"cpu":{"count":1024},` +
		`"memory":{},"disks":[],"boot":{},"system_vendor":{},"hostname":"forged","bmc_address":"0.0.0.0"}}`
	heartbeat := `"callback_url":"https://` + f.host.String() + ":" + agentPort + `","agent_version":"9"}`
	const share = "Too many failed calls from" // one host
	for path, body := range map[string]string{
		agentapi.LookupPath + "?addresses=" + f.mac:              "",
		agentapi.LookupPath + "?node_uuid=" + f.uuid:             "",
		agentapi.HeartbeatPath + f.uuid:                          token + heartbeat,
		agentapi.ContinueInspectionPath + "?node_uuid=" + f.uuid: inventory,
		agentapi.ContinueInspectionPath + "?boot_word=" + word:   inventory,
		own + agentapi.ProgressSuffix:                            token + `"step":"deploy.erase_devices","done":1,"total":1}`,
		own + agentapi.LogSuffix:                                 token + `"boot":"forged","first":0,"lines":["forged"]}`,
		own + agentapi.BMCUserSuffix:                             `{"token":"` + word + `","name":"forged","password":"forged-forged"}`,
	} {
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		r, err := http.NewRequestWithContext(ctx, method, f.site.URL+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header = http.Header{agentapi.VersionHeader: {"1.68"}, agentapi.BootWordHeader: {word},
			"User-Agent": {agentapi.UserAgent}, "Content-Type": {"application/json"}}
		res, err := f.http.Do(r)
		if err != nil {
			return err
		}
		said, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode/100 != 4 && !strings.Contains(string(said), share) {
			return errors.Join(fmt.Errorf("%s of another host is answered %s %s", path, res.Status, said), err)
		}
	}
	return nil
}
