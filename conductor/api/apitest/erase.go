package apitest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// eraseKey signs erase reports of conductors under test. Its seed is public.
func eraseKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

// CutOff puts on record that an erase of a node's disks was aborted before the
// machine could report, and returns the report's UUID.
func (c *Conductor) CutOff(t testing.TB, ref string) string {
	t.Helper()
	n, err := c.Engine.Node(context.Background(), ref)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	n.Run = &node.Run{StepSince: at}
	found := agentapi.Inventory{Disks: []agentapi.Disk{{Name: "/dev/sda", Serial: "S-1", Size: 1 << 40}}}
	return c.signed(t, plan.UnfinishedErase(n, found, "clean aborted by request", at.Add(time.Minute)),
		at.Add(time.Minute))
}

// Erased stores a report that the disks of a node were erased. If failed is set, one of them could not be erased. It
// returns the report's UUID.
func (c *Conductor) Erased(t testing.TB, ref string, failed bool) string {
	t.Helper()
	n, err := c.Engine.Node(context.Background(), ref)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	report, err := json.Marshal(eraseReport(n.UUID, at, failed))
	if err != nil {
		t.Fatal(err)
	}
	return c.signed(t, &node.EraseReport{NodeUUID: n.UUID, NodeName: n.Name, Failed: failed, Report: report},
		at.Add(time.Minute))
}

// signed keeps a report as the engine does, but for the time.
func (c *Conductor) signed(t testing.TB, r *node.EraseReport, at time.Time) string {
	t.Helper()
	r.UUID, r.CreatedAt = uuid.NewString(), at
	signed, err := nodeapi.EraseStatement{
		UUID: r.UUID, NodeUUID: r.NodeUUID, NodeName: r.NodeName, Failed: r.Failed, SignedAt: at, Report: r.Report,
	}.Sign(c.Engine.EraseKey)
	if err != nil {
		t.Fatal(err)
	}
	if r.Payload, r.Signature, err = signed.Signed(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Engine.Store.Commit(context.Background(), node.Change{PutEraseReport: r}); err != nil {
		t.Fatal(err)
	}
	return r.UUID
}

// eraseReport is of a machine with one disk of each kind of end.
func eraseReport(nodeUUID string, at time.Time, failed bool) agentapi.EraseReport {
	good := &agentapi.EraseVerification{Canaries: 1026, Samples: 512, Passed: true}
	r := agentapi.EraseReport{
		Version: agentapi.EraseReportVersion, NodeUUID: nodeUUID,
		Machine: agentapi.EraseMachine{Manufacturer: "ACME", Product: "Anvil <9>", Serial: "M-1"},
		Started: at, Finished: at.Add(50 * time.Second), Disks: []agentapi.ErasedDisk{
			{Device: "/dev/nvme0n1", Model: "FAST", Serial: "N-1", Size: 1 << 40, Method: "nvme_sanitize_block",
				Attempts: []agentapi.EraseAttempt{{Method: "nvme_sanitize_block"}}, Started: &at, DurationMS: 2500,
				Verification: good},
			{Device: "/dev/sda", Model: "SLOW", Serial: "S-1", Size: 1 << 40, Method: "overwrite", Started: &at,
				DurationMS: 3_725_000, Verification: good,
				Attempts: []agentapi.EraseAttempt{{Method: "ata_secure_erase", Error: "3 of 1026 blocks read as before"},
					{Method: "overwrite"}}},
			{Device: "/dev/sdb", Model: "KEPT", Serial: "S-2", Size: 1 << 40, Skipped: "in skip_block_devices"},
		},
	}
	if failed {
		r.Disks = append(r.Disks, agentapi.ErasedDisk{
			Device: "/dev/sdc", Model: "LIAR", Serial: "S-3", Size: 1 << 40, Started: &at, DurationMS: 900,
			Error:        "3 of 1026 blocks read as before",
			Attempts:     []agentapi.EraseAttempt{{Method: "overwrite", Error: "3 of 1026 blocks read as before"}},
			Verification: &agentapi.EraseVerification{Canaries: 1026, Samples: 512, Survivors: 3},
		})
	}
	return r
}
