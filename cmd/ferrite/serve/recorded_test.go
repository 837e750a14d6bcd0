package serve

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// recordings is where data folders of earlier builds are, each named after the
// commit that made it. TestRecord adds one; none is ever recorded anew.
const recordings = "testdata/datafolders"

// recordedPassword is every password in a recorded data folder.
const recordedPassword = "recorded-password"

// keyPhrase is the source of the keys of recorded data folders. The folders have no key files in them: a private key
// does not belong into a repository.
const keyPhrase = "ferrite: keys of recorded data folders, which open nothing else: "

func recordedKey(purpose string) []byte {
	sum := sha256.Sum256([]byte(keyPhrase + purpose))
	return sum[:]
}

func recordedEraseKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(recordedKey("erase reports"))
}

// writeKeys puts the keys of recorded data folders into one.
func writeKeys(t *testing.T, dir string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(recordedEraseKey())
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{
		keys.EraseReportFile: {Type: "PRIVATE KEY", Bytes: der},
		keys.SecretsFile:     {Type: "FERRITE SECRETS KEY", Bytes: recordedKey("secrets")},
	} {
		if err := keys.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b)); err != nil {
			t.Fatal(err)
		}
	}
}

// packFolder keeps all of a data folder but its keys and the files that a start makes.
func packFolder(dir, archive string) (err error) {
	if err := os.MkdirAll(filepath.Dir(archive), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(archive, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(packed)
	defer func() { err = errors.Join(err, w.Close(), packed.Close(), f.Close()) }()
	return fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".pem") || strings.HasSuffix(path, "-shm") || path == "lock" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: path, Mode: 0o600, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
}

// unpackRecorded makes a data folder as it was recorded, with its keys.
func unpackRecorded(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(filepath.Clean(archive))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeKeys(t, dir)
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil || !filepath.IsLocal(h.Name) {
			t.Fatal(h, err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecorded opens the data folders of earlier builds: everything in them is
// there and readable, and no node is left where it does not go on.
func TestRecorded(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(recordings, "*.tar.gz"))
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			dir := unpackRecorded(t, archive)
			inStore(t, dir, func(ctx context.Context, s *store.Database) {
				checkRecordedNodes(ctx, t, s)
				checkRecordedRest(ctx, t, s)
				checkRecordedDocuments(ctx, t, s)
			})
			checkRecordedServes(t, dir)
		})
	}
}

func checkRecordedNodes(ctx context.Context, t *testing.T, s *store.Database) {
	t.Helper()
	holders := map[node.Machine]int{}
	defer func() {
		for machine, n := range holders {
			if n != 1 {
				t.Errorf("%d nodes hold the machine %+v, expected 1", n, machine)
			}
		}
	}()
	for state, info := range node.States {
		n, err := s.Node(ctx, nodeIn(state))
		if machine, ok := n.Machine(); ok && !n.SharesMachine {
			holders[machine]++
		}
		if err != nil || n.ProvisionState != state || n.DriverInfo["redfish_password"] != recordedPassword {
			t.Errorf("node in %s: it is in %q, %v", state, n.ProvisionState, err)
		}
		pending, err := s.PendingEffect(ctx, n.UUID)
		if err != nil || (pending != nil) != (info.Class == node.Working) {
			t.Errorf("node in %s owes %v, %v", state, pending, err)
		}
		if waits := info.Class == node.Waiting; waits && (n.Deadline.IsZero() || n.Agent.Token != recordedPassword) {
			t.Errorf("node in %s: deadline %v, agent %v", state, n.Deadline, n.Agent.URL)
		}
		ports, err := s.Ports(ctx, node.PortQuery{NodeUUID: n.UUID})
		if err != nil || len(ports) != 1 {
			t.Errorf("node in %s has ports %v, %v", state, ports, err)
		}
	}
}

// counted is how many records of a catalog there are.
func counted[T any](ctx context.Context, t *testing.T, c node.Catalog[T]) int {
	t.Helper()
	all, err := c.List(ctx, "", "")
	if err != nil {
		t.Error(err)
	}
	return len(all)
}

func checkRecordedRest(ctx context.Context, t *testing.T, s *store.Database) {
	t.Helper()
	nodes, err := s.Nodes(ctx, node.Query{})
	if err != nil || len(nodes) != len(node.States)+4 {
		t.Errorf("%d nodes, %v", len(nodes), err)
	}
	all := s.Catalogs()
	for what, n := range map[string][2]int{
		"deploy templates": {counted(ctx, t, all.DeployTemplates), 1}, "runbooks": {counted(ctx, t, all.Runbooks), 1},
		"allocations": {counted(ctx, t, all.Allocations), 3}, "chassis": {counted(ctx, t, all.Chassis), 1},
		"portgroups": {counted(ctx, t, all.Portgroups), 1}, "volume connectors": {counted(ctx, t, all.VolumeConnectors), 1},
		"volume targets":   {counted(ctx, t, all.VolumeTargets), 1},
		"inspection rules": {counted(ctx, t, all.InspectionRules), 1},
		"erase reports":    {counted(ctx, t, all.EraseReports), 1},
	} {
		if n[0] != n[1] {
			t.Errorf("%d %s, want %d", n[0], what, n[1])
		}
	}
	lived, err := s.Node(ctx, "lived")
	if err != nil || len(lived.Traits) != 1 || lived.InstanceInfo["configdrive"] == nil {
		t.Errorf("the node that has lived: %v, %v", lived.Traits, err)
	}
	found, err := s.Inspected(ctx, lived.UUID)
	report, toldErr := s.HardwareReport(ctx, lived.UUID)
	history, historyErr := s.History(ctx, lived.UUID)
	leases, leasesErr := s.Leases(ctx)
	if err := errors.Join(err, toldErr, historyErr, leasesErr); err != nil || len(found.Inventory) == 0 ||
		len(report.BIOS) != 1 || len(history) < 5 || len(leases) != 2 {
		t.Errorf("inventory %s, %d BIOS settings, %d entries of history, %d leases, %v", found.Inventory, len(report.BIOS),
			len(history), len(leases), err)
	}
}

func checkRecordedDocuments(ctx context.Context, t *testing.T, s *store.Database) {
	t.Helper()
	k, err := objects.New(ctx, objects.Config{Store: s, Key: recordedKey("secrets")})
	if err != nil {
		t.Fatal(err)
	}
	newer := []string{hostapi.KindClaim, hostapi.KindDeployPolicy, hostapi.KindSubscription,
		hostapi.KindPreprovisioningImage, hostapi.KindNetworkAttachment, hostapi.KindSwitch} // than both builds
	for _, kind := range hostapi.Kinds() {
		if slices.Contains(newer, kind.Kind) {
			continue
		}
		if docs, _, err := k.List(ctx, objects.Query{Kind: kind.Kind}); err != nil || len(docs) == 0 {
			t.Errorf("%d of kind %s, %v", len(docs), kind.Kind, err)
		}
	}
	secret, err := objects.Get[hostapi.Secret](ctx, k, "metal3", "bmc")
	if err != nil || string(secret.Data["password"]) != recordedPassword {
		t.Errorf("the secret holds %d values, %v", len(secret.Data), err)
	}
	host, err := objects.Get[hostapi.Host](ctx, k, "metal3", "provisioned")
	if err != nil || host.Status.Provisioning.State != hostapi.StateProvisioned {
		t.Errorf("the host is %q, %v", host.Status.Provisioning.State, err)
	}
}

// checkRecordedServes starts a conductor. Nodes at rest stay, waiting nodes have a deadline or a person to wait for,
// and working nodes have a pending effect.
func checkRecordedServes(t *testing.T, dir string) {
	t.Helper()
	c := start(t, dir)
	for state, info := range node.States {
		n := c.Call(t, "GET", "/v1/nodes/"+nodeIn(state), nil, http.StatusOK)
		if rests := info.Class == node.Stable || info.Class == node.Held || info.Class == node.Failed; rests &&
			n["provision_state"] != string(state) {
			t.Errorf("node in %s is %v: %v", state, n["provision_state"], n["last_error"])
		}
	}
	c.Call(t, "GET", "/v1/nodes/lived", nil, http.StatusOK)
	recordUntil(t, "allocation", func() bool {
		return c.Call(t, "GET", "/v1/allocations/waiting", nil, 200)["state"] == "error"
	})
	if _, text, err := c.Send("GET", "/ferrite/v1/nodes/lived/logs", nil); err != nil ||
		!strings.Contains(string(text), "the agent ends") {
		t.Errorf("the boot log is %q, %v", text, err)
	}
	c.End(t)
	inStore(t, dir, func(ctx context.Context, s *store.Database) {
		for state := range node.States {
			n, err := s.Node(ctx, nodeIn(state))
			pending, pendingErr := s.PendingEffect(ctx, n.UUID)
			if err := errors.Join(err, pendingErr); err != nil {
				t.Fatal(err)
			}
			class := n.ProvisionState.Class()
			if class == node.Working && pending == nil || class == node.Waiting && n.Deadline.Before(time.Now()) {
				t.Errorf("node in %s has become %s, and goes on no more", state, n.ProvisionState)
			}
		}
	})
}
