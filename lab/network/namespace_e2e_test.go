//go:build e2e

package network

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv6"
)

func newID() string { return "t" + uuid.NewString()[:8] }

func create(t *testing.T, taps int) (*Namespace, string) {
	t.Helper()
	id := newID()
	start := time.Now()
	n, err := Create(id, taps, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("made in %s", time.Since(start))
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		assertNothingLeft(t, id)
	})
	return n, id
}

func assertNothingLeft(t *testing.T, id string) {
	t.Helper()
	left, err := Sweep(id)
	if err != nil || len(left) > 0 {
		t.Errorf("left of lab %s: %v, %v", id, left, err)
	}
}

// hostNet is the host's configuration that must not change while labs come and go.
func hostNet(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", "ip -br link; ip -br addr; ip route; ip -6 route").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestE2ENamespaceMadeAndGone(t *testing.T) {
	before := hostNet(t)
	n, id := create(t, 3)
	out, err := n.Command(t.Context(), "ip", "-br", "addr").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("inside:\n%s", out)
	for _, want := range []string{"lo ", "br0 ", "tap0 ", "tap2 ", n.Gateway.String() + "/24",
		n.Gateway6.String() + "/64"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q inside", want)
		}
	}
	if _, err := Create(id, 0, slog.New(slog.DiscardHandler)); !errors.Is(err, os.ErrExist) {
		t.Errorf("second lab of the same id: %v, expected that it exists", err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if err := n.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	assertNothingLeft(t, id)
	if diff := cmp.Diff(before, hostNet(t)); diff != "" {
		t.Errorf("the host's network changed (-before +after):\n%s", diff)
	}
	if err := n.Do(func() error { return nil }); !errors.Is(err, errClosed) {
		t.Errorf("Do after Close: %v", err)
	}
}

func TestE2ETwoNamespacesServeTheSamePort(t *testing.T) {
	for range 2 {
		n, id := create(t, 1)
		l, err := n.Listen("tcp", n.Gateway.String()+":6385")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, id) })}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
		f, err := n.Forward("127.0.0.1:0", n.Gateway.String()+":6385")
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Get("http://" + f.Addr())
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != id {
			t.Errorf("through the forwarder: %q, %v, expected %q", body, err, id)
		}
		if _, err := n.Dial(t.Context(), "tcp", n.Gateway.String()+":6385"); err != nil {
			t.Errorf("dial inside: %v", err)
		}
	}
}

func TestE2EChildLivesInsideAndDiesWithIt(t *testing.T) {
	n, id := create(t, 0)
	cmd := exec.Command("sh", "-c", "ip -br link show br0 && exec sleep 600")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Start(cmd); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "br0") {
		t.Errorf("child saw %q, %v", line, err)
	}
	left, err := Sweep(id)
	if err != nil || len(left) < 3 {
		t.Errorf("sweep of a living lab: %v, %v, expected a namespace, a mount and a process", left, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("child ended with %v", err)
	}
}

func TestE2ERouterAnswersSolicitation(t *testing.T) {
	n, _ := create(t, 0)
	err := n.Do(func() error {
		// A second interface on the bridge, as a machine would be.
		if out, err := exec.Command("ip", "link", "add", "m0", "type", "veth", "peer", "name",
			"m1").CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		for _, c := range []string{"link set m1 master br0 up", "addr add fe80::99/64 dev m0 nodad", "link set m0 up"} {
			if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", c, err, out)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	took, err := solicit(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("advertised after %s", took)
}

// solicit sends router solicitations from m0 until one is answered.
func solicit(ctx context.Context, n *Namespace) (time.Duration, error) {
	var took time.Duration
	err := n.Do(func() error {
		c, err := icmp.ListenPacket("ip6:ipv6-icmp", "fe80::99%m0")
		if err != nil {
			return err
		}
		defer c.Close()
		p := c.IPv6PacketConn()
		var f ipv6.ICMPFilter
		f.SetAll(true)
		f.Accept(ipv6.ICMPTypeRouterAdvertisement)
		dev, err := net.InterfaceByName("m0")
		if err != nil {
			return err
		}
		if err := errors.Join(p.SetICMPFilter(&f), p.SetMulticastHopLimit(255),
			p.JoinGroup(dev, &net.IPAddr{IP: net.IPv6linklocalallnodes})); err != nil {
			return err
		}
		to := &net.IPAddr{IP: net.IPv6linklocalallrouters, Zone: "m0"}
		for ctx.Err() == nil {
			start := time.Now()
			if _, err := p.WriteTo([]byte{133, 0, 0, 0, 0, 0, 0, 0}, nil, to); err != nil {
				time.Sleep(20 * time.Millisecond) // the link is not up yet
				continue
			}
			p.SetReadDeadline(time.Now().Add(time.Second))
			buf := make([]byte, 1500)
			_, _, from, err := p.ReadFrom(buf)
			if err == nil {
				took = time.Since(start)
				if !strings.HasPrefix(from.String(), "fe80::1%") {
					return fmt.Errorf("advertised by %s", from)
				}
				return nil
			}
		}
		return ctx.Err()
	})
	return took, err
}
