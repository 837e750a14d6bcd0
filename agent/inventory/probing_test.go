package inventory

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestProbing(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	tree := fstest.MapFS{
		"sys/class/nvme/nvme0/state":       file("live"),
		"sys/class/nvme/nvme1/state":       file("connecting"),
		"sys/class/nvme/nvme2/state":       file("dead"), // it brings up nothing any more
		"sys/class/nvme/nvme3/state":       file("resetting"),
		"sys/class/scsi_host/host0/state":  file("running"),
		"sys/class/scsi_host/host1/state":  file("recovery"),
		"sys/class/scsi_host/host2/state":  file("created"),
		"sys/class/scsi_host/host3/unused": file(""),
	}
	want := []string{"NVMe controller nvme1 (connecting)", "NVMe controller nvme3 (resetting)",
		"SCSI host host1 (recovery)", "SCSI host host2 (created)"}
	if got := Probing(tree); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Probing(fstest.MapFS{}); got != nil {
		t.Errorf("without controllers: %q", got)
	}
}
