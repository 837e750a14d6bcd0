package bootpolicy_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/u-root/u-root/pkg/cpio"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/pxe"
)

// TestNetworkDataGoesAlong: the ramdisk of a node with network_data finds it in its file
// system, below folders that are made first.
func TestNetworkDataGoesAlong(t *testing.T) {
	n := booting("clean", "agent.wait_for_heartbeat")
	n.NetworkData = map[string]any{"links": []any{map[string]any{"id": "e0", "type": "phy",
		"ethernet_mac_address": mac}}, "networks": []any{}, "services": []any{}}
	hw, err := net.ParseMAC(mac)
	if err != nil {
		t.Fatal(err)
	}
	boot, err := policy(t, n, node.Port{PXEEnabled: true}).Boot(t.Context(), pxe.Client{MAC: hw})
	if err != nil {
		t.Fatal(err)
	}
	if len(boot.Overlay) == 0 || len(boot.Overlay)%4 != 0 {
		t.Fatalf("an archive of %d bytes", len(boot.Overlay))
	}
	records, err := cpio.ReadAllRecords(cpio.Newc.Reader(bytes.NewReader([]byte(boot.Overlay))))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range records {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"etc", "etc/ferrite", "etc/ferrite/network_data.json"}, names); diff != "" {
		t.Fatal(diff)
	}
	text, err := io.ReadAll(io.NewSectionReader(records[2], 0, int64(records[2].FileSize)))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(n.NetworkData, got); diff != "" {
		t.Error(diff)
	}
}
