package network

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"go.uber.org/goleak"
)

func TestWaitsForCarrierThenDHCP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0", "eth1")
		mgr, stop := start(t, m, nil)
		defer stop()
		synctest.Wait()
		if n := m.count("eth0"); n != 0 {
			t.Errorf("asked %d times without a link", n)
		}
		m.set("eth0", true)
		if err := mgr.Wait(t.Context(), true, time.Minute); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]netip.Addr{"eth0": netip.MustParseAddr("10.0.0.1")}, mgr.Addresses(),
			cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Error(diff)
		}
		if s := mgr.Summary(); !strings.Contains(s, "eth1: no link") || !strings.Contains(s, "eth0: 10.0.0.1/24") {
			t.Error(s)
		}
	})
}

func TestBootInterfaceIsWaitedForAndFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0", "eth1")
		m.carrier["eth0"], m.carrier["eth1"] = true, true
		m.refuse["eth1"] = 3 // 0.2 + 0.4 + 0.8 s
		mgr, stop := start(t, m, mac(2))
		defer stop()
		began := time.Now()
		if err := mgr.Wait(t.Context(), false, time.Minute); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 1400*time.Millisecond {
			t.Errorf("took %v", took)
		}
		mgr.mu.Lock()
		dns := resolvConf(mgr.configs())
		mgr.mu.Unlock()
		if want := "nameserver 10.0.0.52\nnameserver 10.0.0.51\n"; dns != want {
			t.Errorf("resolv.conf %q, want %q", dns, want)
		}
		want := []string{"configure eth0 10.0.0.1/24 metric 201", "configure eth1 10.0.0.2/24 metric 100"}
		got := slices.DeleteFunc(m.done(), func(call string) bool { return !strings.HasPrefix(call, "configure") })
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0", "eth1")
		m.carrier["eth0"] = true // the boot interface, eth1, never gets a link
		mgr, stop := start(t, m, mac(2))
		defer stop()
		began := time.Now()
		if err := mgr.Wait(t.Context(), false, 30*time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestNoInterfaceAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mgr, stop := start(t, newMachine(), nil)
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := mgr.Wait(ctx, false, time.Minute)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no network interface") {
			t.Errorf("error %v", err)
		}
	})
}

func TestRenewsAndLosesLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0")
		m.carrier["eth0"] = true
		mgr, stop := start(t, m, nil)
		defer stop()
		time.Sleep(21 * time.Minute)
		if n := m.count("renew eth0"); n != 4 {
			t.Errorf("renewed %d times in 21 minutes", n)
		}
		m.set("eth0", false)
		synctest.Wait()
		if len(mgr.Addresses()) != 0 || !slices.Contains(m.done(), "deconfigure eth0 10.0.0.1/24") {
			t.Errorf("after the link went: %v, calls %v", mgr.Addresses(), m.done())
		}
		m.set("eth0", true)
		synctest.Wait()
		if len(mgr.Addresses()) != 1 {
			t.Error("no address after the link came back")
		}
	})
}

func TestLeaseRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0")
		m.carrier["eth0"], m.renew = true, errors.New("no answer")
		_, stop := start(t, m, nil)
		defer stop()
		time.Sleep(9*time.Minute + 59*time.Second)
		if n := m.count("eth0"); n != 1 {
			t.Errorf("asked anew %d times before the lease ran out", n)
		}
		time.Sleep(5 * time.Second)
		if n := m.count("eth0"); n != 2 {
			t.Errorf("asked anew %d times after the lease ran out", n)
		}
	})
}

// TestAskAnew: the same network gives the same address, which stays as it is;
// another network's takes its place, and the old one stays until it is there.
func TestAskAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0")
		m.carrier["eth0"] = true
		mgr, stop := start(t, m, nil)
		defer stop()
		synctest.Wait()
		mgr.AskAnew()
		synctest.Wait()
		if n := m.count("eth0"); n != 2 || slices.Contains(m.done(), "deconfigure eth0 10.0.0.1/24") {
			t.Errorf("asked %d times, calls %v", n, m.done())
		}
		m.mu.Lock()
		m.network, m.refuse["eth0"] = 7, 2
		m.mu.Unlock()
		mgr.AskAnew()
		synctest.Wait()
		if len(mgr.Addresses()) != 1 {
			t.Error("no address while the new one is waited for")
		}
		time.Sleep(time.Second)
		want := []string{"deconfigure eth0 10.0.0.1/24", "configure eth0 10.0.7.1/24 metric 201"}
		if calls := m.done(); !slices.Equal(calls[len(calls)-2:], want) {
			t.Errorf("calls %v, want %v in the end", calls, want)
		}
	})
}

func TestInterfacesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine()
		mgr, stop := start(t, m, nil)
		defer stop()
		m.mu.Lock()
		m.links = append(m.links, Link{Index: 7, Name: "eth7", MAC: mac(7), Physical: true})
		m.carrier["eth7"] = true
		m.mu.Unlock()
		time.Sleep(2 * time.Second) // without an event: the slow look
		if len(mgr.Addresses()) != 1 {
			t.Fatal("a new interface was not configured")
		}
		m.mu.Lock()
		m.links = nil
		m.mu.Unlock()
		time.Sleep(2 * time.Second)
		if len(mgr.Addresses()) != 0 {
			t.Error("a vanished interface still has its address")
		}
	})
}

func TestConfigOf(t *testing.T) {
	ack := func(mods ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
		p, err := dhcpv4.New(append([]dhcpv4.Modifier{dhcpv4.WithYourIP(net.IPv4(10, 0, 0, 5))}, mods...)...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	gateway := netip.MustParseAddr("10.0.0.1")
	all := netip.MustParsePrefix("0.0.0.0/0")
	tests := map[string]struct {
		ack  *dhcpv4.DHCPv4
		want Config
	}{
		"usual": {
			ack(dhcpv4.WithNetmask(net.CIDRMask(24, 32)), dhcpv4.WithRouter(net.IPv4(10, 0, 0, 1)),
				dhcpv4.WithDNS(net.IPv4(10, 0, 0, 2)),
				dhcpv4.WithLeaseTime(3600), dhcpv4.WithOption(dhcpv4.OptHostName("h")),
				dhcpv4.WithGeneric(dhcpv4.OptionInterfaceMTU, []byte{0x23, 0x28})),
			Config{
				Address: netip.MustParsePrefix("10.0.0.5/24"), Routes: []Route{{To: all, Gateway: gateway}},
				Hostname: "h", MTU: 9000,
				DNS: []netip.Addr{netip.MustParseAddr("10.0.0.2")}, Lease: time.Hour, Renew: 30 * time.Minute,
			},
		},
		"next to nothing": {
			ack(), Config{Address: netip.MustParsePrefix("10.0.0.5/8"), Lease: defaultLease, Renew: defaultLease / 2},
		},
		"classless routes replace the router": {
			ack(dhcpv4.WithNetmask(net.CIDRMask(32, 32)), dhcpv4.WithRouter(net.IPv4(10, 0, 0, 9)), dhcpv4.WithLeaseTime(4),
				dhcpv4.WithOption(dhcpv4.OptClasslessStaticRoute(
					&dhcpv4.Route{Dest: &net.IPNet{IP: net.IPv4(10, 1, 0, 0), Mask: net.CIDRMask(16, 32)}, Router: net.IPv4zero},
					&dhcpv4.Route{Dest: &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}, Router: net.IPv4(10, 0, 0, 1)}))),
			Config{
				Address: netip.MustParsePrefix("10.0.0.5/32"), Lease: 4 * time.Second, Renew: minRenew,
				Routes: []Route{{To: netip.MustParsePrefix("10.1.0.0/16")}, {To: all, Gateway: gateway}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := configOf(tc.ack)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := configOf(&dhcpv4.DHCPv4{}); err == nil {
		t.Error("an answer without an address was taken")
	}
}

func FuzzConfigOf(f *testing.F) {
	p, err := dhcpv4.New(dhcpv4.WithYourIP(net.IPv4(10, 0, 0, 5)), dhcpv4.WithRouter(net.IPv4(10, 0, 0, 1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.ToBytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		ack, err := dhcpv4.FromBytes(b)
		if err != nil {
			return
		}
		if c, err := configOf(ack); err == nil && (!c.Address.IsValid() || c.Renew < minRenew) {
			t.Errorf("config %+v", c)
		}
	})
}

func TestWriteResolvConf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etc", "resolv.conf")
	one := Config{Domain: "lab", DNS: []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")}}
	two := Config{Domain: "lab", DNS: []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.4"),
		netip.MustParseAddr("10.0.0.5")}}
	if err := WriteResolvConf(path, []Config{one, two}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	want := "search lab\nnameserver 10.0.0.2\nnameserver 10.0.0.3\nnameserver 10.0.0.4\n"
	if err != nil || !bytes.Equal(got, []byte(want)) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestUpAgain: a card that refuses to come up is asked again each second, and shown so.
func TestUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0")
		m.busy["eth0"] = 40 // and no link as long as it is down
		mgr, stop := start(t, m, nil)
		defer stop()
		time.Sleep(39 * time.Second)
		if s := mgr.Summary(); s != "eth0: does not come up: device or resource busy" {
			t.Error(s)
		}
		m.set("eth0", true)
		time.Sleep(2 * time.Second)
		if s := mgr.Summary(); s != "eth0: 10.0.0.1/24" {
			t.Error(s)
		}
	})
}

// TestForeignIsLeftAlone: the BMC's card gets no address and is not waited for, even where
// it is the only one with a link.
func TestForeignIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("usb0", "eth0")
		m.carrier["usb0"] = true
		mgr := New(m, m, nil, func([]Config) {}, slog.New(slog.DiscardHandler))
		mgr.Foreign = func(name string) string {
			if name == "usb0" {
				return "the BMC's"
			}
			return ""
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := mgr.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		err := mgr.Wait(ctx, false, time.Minute)
		wg.Wait()
		if err == nil || m.count("usb0") != 0 || slices.Contains(m.done(), "up usb0") {
			t.Errorf("wait ended with %v, calls %v", err, m.done())
		}
	})
}

// TestLinkLocalIsNoNetwork: an address that reaches one cable is not waited for, and its
// name servers are not used.
func TestLinkLocalIsNoNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0")
		m.carrier["eth0"], m.local = true, true
		mgr, stop := start(t, m, nil)
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := mgr.Wait(ctx, false, time.Minute); err == nil {
			t.Error("the wait ended with " + mgr.Summary())
		}
		mgr.mu.Lock()
		defer mgr.mu.Unlock()
		if c := mgr.configs(); len(c) != 0 {
			t.Errorf("name servers of %v", c)
		}
	})
}

// TestNoAddressIsSaidOnce: a port without DHCP does not fill the log of a day.
func TestNoAddressIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0")
		m.carrier["eth0"], m.refuse["eth0"] = true, 1<<30
		var out bytes.Buffer
		mgr := New(m, m, nil, func([]Config) {}, slog.New(slog.NewTextHandler(&out, nil)))
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		if err := mgr.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), "no address by DHCP"); n < 2 || n > 48 {
			t.Errorf("said %d times in a day", n)
		}
	})
}
