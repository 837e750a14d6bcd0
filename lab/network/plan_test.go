package network

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestNewPlan(t *testing.T) {
	got, err := NewPlan("demo")
	if err != nil {
		t.Fatal(err)
	}
	want := Plan{
		Namespace: "ferrite-demo",
		Subnet:    netip.MustParsePrefix("10.101.228.0/24"),
		Gateway:   netip.MustParseAddr("10.101.228.1"),
		Subnet6:   netip.MustParsePrefix("fd1b:6742:76d3::/64"),
		Gateway6:  netip.MustParseAddr("fd1b:6742:76d3::1"),
		MAC:       net.HardwareAddr{0x52, 0x54, 0x00, 0x76, 0xd3, 0x96},
	}
	opts := cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{})
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	other, err := NewPlan("demo2")
	if err != nil {
		t.Fatal(err)
	}
	if other.Subnet == got.Subnet {
		t.Errorf("two ids share subnet %s", got.Subnet)
	}
}

func TestNewPlanRefuses(t *testing.T) {
	for _, id := range []string{"", "-a", "A", "a/b", "..", "a b", strings.Repeat("x", 33)} {
		if _, err := NewPlan(id); err == nil {
			t.Errorf("id %q: accepted", id)
		}
	}
}

func TestAdvertisement(t *testing.T) {
	mac := net.HardwareAddr{0x52, 0x54, 0x00, 0x01, 0x02, 0x03}
	got := advertisement(netip.MustParsePrefix("fd00:77::/64"), mac)
	want := []byte{
		64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		1, 1, 0x52, 0x54, 0, 1, 2, 3,
		3, 4, 64, 0xc0, 0, 1, 0x51, 0x80, 0, 0, 0x38, 0x40, 0, 0, 0, 0,
		0xfd, 0, 0, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("advertisement (-want +got):\n%s", diff)
	}
}

func TestMountTargets(t *testing.T) {
	table := "22 27 0:21 / /proc rw shared:1 - proc proc rw\n" +
		"99 27 0:4 net:[4026532281] /run/netns/ferrite-x rw - nsfs nsfs rw\nshort line\n"
	want := []string{"/proc", "/run/netns/ferrite-x"}
	if diff := cmp.Diff(want, mountTargets(table)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}
