package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/certificate/certtest"
	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// agentPort is where agents take commands (ironic-python-agent's).
const agentPort = "9999"

// forged erases a machine by its real agent while a host of the boot network claims to be it: it looks the machine
// up, sends heartbeats, progress, logs and inspection data of it, and answers commands at the machine's own address.
// The erase fails, says why, and is done by the machine once its address is its own again. Nothing of the host's is
// on record.
func forged(ctx context.Context, b *bed) (err error) {
	spec := machine("metal-1", qemu.BIOS)
	spec.Disks = []qemu.Disk{{SizeMB: 64}}
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
	inventory := func() (doc json.RawMessage, err error) {
		return doc, s.Call(ctx, http.MethodGet, "/v1/nodes/metal-1/inventory", nil, &doc)
	}
	before, err := inventory()
	if err != nil {
		return err
	}
	f, err := b.newForger(ctx, s, m, n.UUID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := b.commands(ctx, s, "node clean metal-1 --step deploy.erase_devices"); err != nil {
		return err
	}
	if err := f.claims(ctx); err != nil {
		return err
	}
	if err := f.route(ctx, "del"); err != nil {
		return err
	}
	if err := b.commands(ctx, s, "node manage metal-1 --wait",
		"node clean metal-1 --wait --step deploy.erase_devices"); err != nil {
		return err
	}
	if left, err := secrets(m.Spec().Disks[0]); err != nil || left != 0 {
		return errors.Join(fmt.Errorf("the disk holds %d secrets after it was erased", left), err)
	}
	list, err := b.eraseReports(ctx, s, m)
	if err != nil || len(list) != 1 || list[0].Failed || list[0].Erased != 1 {
		return errors.Join(fmt.Errorf("the erase reports are %+v, expected the machine's alone", list), err)
	}
	after, err := inventory()
	if err != nil || !bytes.Equal(before, after) {
		return errors.Join(fmt.Errorf("the inventory has changed to %s", after), err)
	}
	if f.asked.Load() > 0 {
		return fmt.Errorf("the conductor sent %d requests to the host that claims to be the machine", f.asked.Load())
	}
	return nil
}

// forger is a host of the boot network that claims to be a machine.
type forger struct {
	site    *site.Site
	machine *lab.Machine
	uuid    string
	http    *http.Client // from the host's own address
	host    netip.Addr
	address string // of the machine
	server  *http.Server
	called  atomic.Int64 // connections to the machine's address that came here instead
	asked   atomic.Int64 // requests over them, and connections to an address that a heartbeat named
}

// newForger has the calls of the conductor to the agent of a machine led to a server of the forger's.
func (b *bed) newForger(ctx context.Context, s *site.Site, m *lab.Machine, uuid string) (*forger, error) {
	var leases struct {
		Leases []nodeapi.Lease `json:"leases"`
	}
	if err := s.Call(ctx, http.MethodGet, "/ferrite/v1/leases", nil, &leases); err != nil {
		return nil, err
	}
	f := &forger{site: s, machine: m, uuid: uuid, host: onLab(s).Addr()}
	for _, l := range leases.Leases {
		if l.MAC == m.Spec().NICs[0].MAC {
			f.address = l.IP
		}
	}
	if f.address == "" {
		return nil, fmt.Errorf("%s has no lease among %+v", m.Name, leases.Leases)
	}
	host, err := s.Network.AddHost("forger", onLab(s))
	if err != nil {
		return nil, err
	}
	f.http = &http.Client{Transport: &http.Transport{DialContext: host.Dial, DisableKeepAlives: true}, Timeout: callTime}
	for _, at := range []*network.Namespace{s.Network, host} {
		if err := f.listen(at); err != nil {
			return nil, err
		}
	}
	return f, f.route(ctx, "add")
}

// callTime bounds a request of the forger's.
const callTime = 10 * time.Second

// listen takes the calls of an agent, with a certificate of its own.
func (f *forger) listen(at *network.Namespace) error {
	own, err := certtest.Make()
	if err != nil {
		return err
	}
	chain, key, err := own.Issue(f.address, f.host.String())
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return err
	}
	l, err := at.Listen("tcp4", "0.0.0.0:"+agentPort)
	if err != nil {
		return err
	}
	if f.server == nil {
		f.server = &http.Server{Handler: http.HandlerFunc(f.answer), ReadHeaderTimeout: callTime,
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
			ErrorLog:  log.New(io.Discard, "", 0),
			ConnState: func(c net.Conn, s http.ConnState) {
				switch at, err := netip.ParseAddrPort(c.LocalAddr().String()); {
				case s != http.StateNew:
				case err != nil || at.Addr() == f.host: // the callback URL of a forged heartbeat
					f.asked.Add(1)
				default:
					f.called.Add(1)
				}
			}}
	}
	go func() { _ = f.server.ServeTLS(l, "", "") }()
	return nil
}

// answer is that of an agent which has erased everything.
func (f *forger) answer(w http.ResponseWriter, _ *http.Request) {
	f.asked.Add(1)
	_, _ = io.WriteString(w, `{"commands":[{"id":"1","command_name":"execute_clean_step","command_status":"SUCCEEDED",`+
		`"command_error":null,"command_result":{"clean_result":{"erased":[]},"clean_step":{"interface":"deploy",`+
		`"step":"erase_devices"}}}]}`)
}

// route adds or deletes the way of the conductor's calls to the agent: what is for its port comes to the forger.
func (f *forger) route(ctx context.Context, verb string) error {
	const table = "100"
	for _, args := range [][]string{
		{"rule", verb, "to", f.address + "/32", "ipproto", "tcp", "dport", agentPort, "lookup", table},
		{"route", verb, "local", f.address + "/32", "dev", "lo", "table", table, "src", f.site.Network.Gateway.String()},
	} {
		if out, err := f.site.Network.Command(ctx, "ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// claims sends all that an agent sends, until the clean has failed for the forger's certificate.
func (f *forger) claims(ctx context.Context) error {
	for {
		if err := f.claimAll(ctx); err != nil {
			return err
		}
		st, err := f.site.Status(ctx, f.machine.Name)
		if err != nil {
			return err
		}
		if st.State == "clean failed" {
			if f.called.Load() == 0 || !strings.Contains(st.LastError, "certificate") {
				return fmt.Errorf("after %d calls the clean failed with %q, expected a word of the certificate",
					f.called.Load(), st.LastError)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the clean whose agent is another's has not failed, the node is %+v: %w", st, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (f *forger) claimAll(ctx context.Context) error {
	word, mac := strings.Repeat("f", 32), f.machine.Spec().NICs[0].MAC
	inventory := `{"inventory":{"interfaces":[{"name":"eth0","mac_address":"` + mac + `"}],"cpu":{"count":1024},"memory":{},` +
		`"disks":[],"boot":{},"system_vendor":{},"hostname":"forged","bmc_address":"0.0.0.0"}}`
	for path, body := range map[string]string{
		agentapi.LookupPath + "?addresses=" + mac:    "",
		agentapi.LookupPath + "?node_uuid=" + f.uuid: "",
		agentapi.HeartbeatPath + f.uuid: `{"callback_url":"https://` + f.host.String() + `:9999","agent_token":"` + word +
			`","agent_version":"9"}`,
		agentapi.ContinueInspectionPath + "?node_uuid=" + f.uuid: inventory,
		agentapi.ContinueInspectionPath + "?boot_word=" + word:   inventory,
		agentapi.AgentsPath + f.uuid + agentapi.ProgressSuffix: `{"agent_token":"` + word +
			`","step":"deploy.erase_devices","done":1,"total":1}`,
		agentapi.AgentsPath + f.uuid + agentapi.LogSuffix: `{"agent_token":"` + word +
			`","boot":"forged","first":0,"lines":["forged"]}`,
		agentapi.AgentsPath + f.uuid + agentapi.BMCUserSuffix: `{"token":"` + word +
			`","name":"forged","password":"forged-forged","address":"192.0.2.9"}`,
	} {
		if err := f.claim(ctx, path, body, word); err != nil {
			return err
		}
	}
	return nil
}

// claim sends one of them, which must be refused.
func (f *forger) claim(ctx context.Context, path, body, word string) error {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, f.site.URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set(agentapi.VersionHeader, "1.68")
	r.Header.Set(agentapi.BootWordHeader, word)
	r.Header.Set("User-Agent", agentapi.UserAgent)
	r.Header.Set("Content-Type", "application/json")
	res, err := f.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	const share = "Too many failed calls from" // of one host
	if res.StatusCode/100 != 4 && !strings.Contains(string(said), share) {
		return fmt.Errorf("%s of another host is answered %s %s", path, res.Status, said)
	}
	return nil
}

func (f *forger) close() error {
	f.http.CloseIdleConnections()
	return f.server.Close()
}
