package module

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"pci:v00001AF4d00001041sv*sd*bc*sc*i*", "pci:v00001AF4d00001041sv00001AF4sd00001100bc02sc00i00", true},
		{"pci:v00001AF4d00001042sv*sd*bc*sc*i*", "pci:v00001AF4d00001041sv00001AF4sd00001100bc02sc00i00", false},
		{"virtio:d00000001v*", "virtio:d00000001v00001AF4", true},
		{"usb:v*p*d*dc*dsc*dp*ic08isc06ip50in*", "usb:v46F4p0001d0000dc00dsc00dp00ic08isc06ip50in00", true},
		{"x*b*c", "xabbbbc", true},
		{"x*b*c", "xabbbbd", false},
		{"cpu:type:x86,ven*fam*mod*:feature:*0081*", "cpu:type:x86,ven0002fam0006mod0006:feature:,0080,0081,0083", true},
		{"a?c", "abc", true}, {"a?c", "ac", false},
		{"a[0-9]c", "a5c", true}, {"a[!0-9]c", "a5c", false}, {"a[bc", "a[bc", false},
		{`a\*c`, "a*c", true}, {`a\*c`, "abc", false}, {"dmi:*pn*:", "dmi:svnX:pnA/B:", true}, {"a/b?", "a/b/", true},
		{"", "", true}, {"*", "", true}, {"", "a", false}, {"a", "", false}, {"**", "ab", true},
		{"of:N*T*Cmarvell,x*", "of:NfooT(null)Cmarvell,x", true},
	}
	for _, tc := range tests {
		if got := match(tc.pattern, tc.name); got != tc.want {
			t.Errorf("Match(%q, %q) = %v", tc.pattern, tc.name, got)
		}
	}
}

const release = "6.1.0-test"

func tree() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"lib/modules/" + release + "/modules.dep": file(
			"kernel/net/failover.ko:\n" +
				"kernel/net/net_failover.ko: kernel/net/failover.ko\n" +
				"kernel/drivers/net/virtio_net.ko: kernel/net/net_failover.ko kernel/net/failover.ko\n" +
				"kernel/drivers/virtio/virtio.ko:\n" +
				"kernel/drivers/virtio/virtio-pci.ko: kernel/drivers/virtio/virtio.ko\n" +
				"kernel/drivers/broken.ko.xz:\n" +
				"kernel/a.ko: kernel/b.ko\nkernel/b.ko: kernel/a.ko\n"),
		"lib/modules/" + release + "/modules.alias": file(
			"# Aliases extracted from modules themselves.\n" +
				"alias pci:v00001AF4d*sv*sd*bc*sc*i* virtio_pci\n" +
				"alias virtio:d00000001v* virtio_net\n" +
				"alias pci:v00001AF4d*sv*sd*bc*sc*i* broken\n"),
		"lib/modules/" + release + "/modules.builtin": file("kernel/drivers/nvme/host/nvme.ko\n"),
		"sys/bus/pci/devices/0000:00:03.0/modalias":   file("pci:v00001AF4d00001041sv00001AF4sd00001100bc02sc00i00\n"),
		"etc/ferrite/modules":                         file("# first\nnvme\nvirtio-pci\nabsent\n"),
	}
}

// fakeKernel takes modules; bringing up virtio-pci makes its bus appear. It is also the
// file system that the bus appears in, since both are used by several goroutines.
type fakeKernel struct {
	mu     sync.Mutex
	fsys   fstest.MapFS
	loaded []string
}

func (k *fakeKernel) Open(name string) (fs.File, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fsys.Open(name)
}

func (k *fakeKernel) LoadModule(file, params string) error {
	if strings.Contains(file, "broken") {
		return errors.New("no such device")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.loaded = append(k.loaded, strings.TrimSpace(path.Base(file)+" "+params))
	if path.Base(file) == "virtio-pci.ko" {
		k.fsys["sys/bus/virtio/devices/virtio0/modalias"] = &fstest.MapFile{Data: []byte("virtio:d00000001v00001AF4\n")}
	}
	return nil
}

func newLoader(t *testing.T, banned ...string) (*Loader, *fakeKernel) {
	t.Helper()
	fsys := tree()
	x, err := ReadIndex(fsys, release)
	if err != nil {
		t.Fatal(err)
	}
	k := &fakeKernel{fsys: fsys}
	return NewLoader(k, x, k, map[string]string{"virtio_net": "napi_tx=1"}, banned,
		slog.New(slog.NewTextHandler(io.Discard, nil))), k
}

func TestListedThenColdplug(t *testing.T) {
	l, k := newLoader(t)
	l.Listed()
	if diff := cmp.Diff([]string{"virtio.ko", "virtio-pci.ko"}, k.loaded); diff != "" {
		t.Error(diff)
	}
	l.Coldplug()
	l.Coldplug()
	want := []string{"virtio.ko", "virtio-pci.ko", "failover.ko", "net_failover.ko", "virtio_net.ko napi_tx=1"}
	if diff := cmp.Diff(want, k.loaded); diff != "" {
		t.Error(diff)
	}
}

// scanning is a kernel in which the driver of a storage controller returns only when the
// network card's is loaded.
type scanning struct {
	mu     sync.Mutex
	loaded []string
	nic    chan struct{}
}

func (k *scanning) LoadModule(file, _ string) error {
	switch path.Base(file) {
	case "hba.ko":
		select {
		case <-k.nic:
		case <-time.After(10 * time.Second):
			return errors.New("the network card's driver was not loaded meanwhile")
		}
	case "nic.ko":
		defer close(k.nic)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.loaded = append(k.loaded, path.Base(file))
	return nil
}

// TestNetworkBesideStorage: a storage controller that scans without end holds up no
// network card, though it comes first by its address, and needs a module of its own.
func TestNetworkBesideStorage(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	fsys := fstest.MapFS{
		"lib/modules/" + release + "/modules.dep": file("a/hba.ko: a/common.ko\na/nic.ko: a/common.ko\na/common.ko:\n"),
		"lib/modules/" + release + "/modules.alias": file("alias pci:v00001000d*sv*sd*bc*sc*i* hba\n" +
			"alias pci:v000014E4d*sv*sd*bc*sc*i* nic\n"),
		"sys/bus/pci/devices/0000:01:00.0/modalias": file("pci:v00001000d00000097sv00001000sd00003090bc01sc07i00\n"),
		"sys/bus/pci/devices/0000:02:00.0/modalias": file("pci:v000014E4d000016D7sv00001590sd0000020Ebc02sc00i00\n"),
	}
	x, err := ReadIndex(fsys, release)
	if err != nil {
		t.Fatal(err)
	}
	k := &scanning{nic: make(chan struct{})}
	NewLoader(fsys, x, k, nil, nil, slog.New(slog.DiscardHandler)).Coldplug()
	if diff := cmp.Diff([]string{"common.ko", "nic.ko", "hba.ko"}, k.loaded); diff != "" {
		t.Error(diff)
	}
}

func TestBanned(t *testing.T) {
	l, k := newLoader(t, "virtio-pci")
	l.Listed()
	l.Coldplug()
	if len(k.loaded) != 0 {
		t.Errorf("loaded %v", k.loaded)
	}
}

// script plays events and ends.
type script struct{ events []map[string]string }

func (s *script) Next() (map[string]string, error) {
	if len(s.events) == 0 {
		return nil, io.EOF
	}
	e := s.events[0]
	s.events = s.events[1:]
	return e, nil
}

func TestHotplug(t *testing.T) {
	l, k := newLoader(t)
	err := l.Hotplug(context.Background(), &script{[]map[string]string{
		{"ACTION": "remove", "MODALIAS": "pci:v00001AF4d1sv1sd1bc1sc1i1"},
		{"ACTION": "add", "MODALIAS": "virtio:d00000001v00001AF4"},
		{}, // lost events: look at everything
	}})
	if !errors.Is(err, io.EOF) {
		t.Errorf("hotplug ended with %v", err)
	}
	want := []string{"failover.ko", "net_failover.ko", "virtio_net.ko napi_tx=1", "virtio.ko", "virtio-pci.ko"}
	if diff := cmp.Diff(want, k.loaded); diff != "" {
		t.Error(diff)
	}
}

func TestClosureEndsInCircles(t *testing.T) {
	l, _ := newLoader(t)
	got, err := l.index.Closure("a")
	if err != nil || len(got) != 2 {
		t.Errorf("closure %v, %v", got, err)
	}
}

func TestReadIndexWithoutFiles(t *testing.T) {
	if _, err := ReadIndex(fstest.MapFS{}, release); err == nil || !strings.Contains(err.Error(), release) {
		t.Errorf("error %v", err)
	}
}

func FuzzReadIndex(f *testing.F) {
	f.Add("kernel/a.ko: kernel/b.ko\n", "alias pci:v*d* a\n", "pci:v1d2")
	f.Add(":", "alias * x\nalias\n", "")
	f.Fuzz(func(t *testing.T, dep, aliases, modalias string) {
		x, err := ReadIndex(fstest.MapFS{
			"lib/modules/r/modules.dep":   {Data: []byte(dep)},
			"lib/modules/r/modules.alias": {Data: []byte(aliases)},
		}, "r")
		if err != nil {
			return
		}
		for _, m := range x.For(modalias) {
			if files, err := x.Closure(m); err == nil && len(files) == 0 {
				t.Errorf("module %q has an empty closure", m)
			}
		}
	})
}
