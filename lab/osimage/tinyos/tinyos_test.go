package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLoadOrder(t *testing.T) {
	got := loadOrder("a.ko: b.ko c.ko\nb.ko: c.ko\nc.ko:\n\nd.ko:\n")
	if diff := cmp.Diff([]string{"c.ko", "b.ko", "a.ko", "d.ko"}, got); diff != "" {
		t.Error(diff)
	}
}

func isoDrive(label string) []byte {
	b := make([]byte, 17*2048)
	copy(b[16*2048:], "\x01CD001")
	copy(b[16*2048+40:], label+strings.Repeat(" ", 32-len(label)))
	return b
}

func fatDrive(kindAt int, kind string, labelAt int, label string) []byte {
	b := make([]byte, 512)
	copy(b[kindAt:], kind)
	copy(b[labelAt:], label)
	b[510], b[511] = 0x55, 0xaa
	return b
}

func TestReadLabel(t *testing.T) {
	tests := []struct {
		name  string
		drive []byte
		want  string
	}{
		{"iso", isoDrive("config-2"), "config-2"},
		{"fat32", fatDrive(82, "FAT32   ", 71, "CONFIG-2   "), "CONFIG-2"},
		{"fat16", fatDrive(54, "FAT16   ", 43, "CONFIG-2   "), "CONFIG-2"},
		{"partition table only", fatDrive(0, "", 0, ""), ""},
		{"blank", make([]byte, 1<<16), ""},
		{"cut", isoDrive("config-2")[:300], ""},
		{"empty", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := readLabel(bytes.NewReader(tt.drive)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsDisk(t *testing.T) {
	root := t.TempDir()
	for name, want := range map[string]bool{"sda": true, "nvme0n1": true, "sr0": false} {
		if err := os.MkdirAll(filepath.Join(root, name, "device"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := isDisk(filepath.Join(root, name)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"sda1", "loop0"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if isDisk(filepath.Join(root, name)) {
			t.Errorf("%s is taken for a disk", name)
		}
	}
}

func FuzzReadLabel(f *testing.F) {
	f.Add(isoDrive("config-2"))
	f.Add(fatDrive(82, "FAT32   ", 71, "CONFIG-2   "))
	f.Fuzz(func(t *testing.T, drive []byte) {
		if label := readLabel(bytes.NewReader(drive)); len(label) > 32 {
			t.Errorf("label of %d bytes", len(label))
		}
	})
}

func configDrive(meta, userData string) fstest.MapFS {
	return fstest.MapFS{
		"openstack/latest/meta_data.json":    {Data: []byte(meta)},
		"openstack/latest/user_data":         {Data: []byte(userData)},
		"openstack/latest/network_data.json": {Data: []byte(`{"links":[]}`)},
	}
}

func TestReadDrive(t *testing.T) {
	tests := []struct{ name, meta, host, wantErr string }{
		{"full", `{"uuid":"u","hostname":"n1.example.org","name":"n","meta":{"a":"b"}}`, "n1", ""},
		{"name only", `{"name":"n2"}`, "n2", ""},
		{"no name", `{}`, "tinyos", ""},
		{"garbage", `{"uuid":`, "tinyos", "meta_data.json"},
		{"wrong type", `{"uuid":[]}`, "tinyos", "meta_data.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := readDrive(configDrive(tt.meta, "text"))
			if (err == nil) != (tt.wantErr == "") || (err != nil && !strings.Contains(err.Error(), tt.wantErr)) {
				t.Fatalf("error %v, want %q in it", err, tt.wantErr)
			}
			if err == nil && string(d.UserData) != "text" || d.shortName() != tt.host {
				t.Errorf("host %q, user data %q", d.shortName(), d.UserData)
			}
		})
	}
	bare := configDrive("{}", "")
	delete(bare, "openstack/latest/user_data")
	delete(bare, "openstack/latest/network_data.json")
	if d, err := readDrive(bare); err != nil || d.UserData != nil || d.NetworkData != nil {
		t.Errorf("without user_data and network_data: %q, %q, %v", d.UserData, d.NetworkData, err)
	}
	delete(bare, "openstack/latest/meta_data.json")
	if _, err := readDrive(bare); err == nil {
		t.Error("no error without meta_data.json")
	}
}

func TestNewReport(t *testing.T) {
	tests := []struct{ name, userData, url, wantErr string }{
		{"cloud-config", "#cloud-config\nphone_home: {url: 'http://h/$INSTANCE_ID', post: all}\n", "http://h/u1", ""},
		{"no phone_home", "#cloud-config\n{}\n", "", ""},
		{"script", "#!/bin/sh\nphone_home: {url: http://h}\n", "", ""},
		{"none", "", "", ""},
		{"bad YAML", "#cloud-config\nphone_home: [\n", "", "user_data"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := readDrive(configDrive(`{"uuid":"u1","hostname":"n1.org"}`, tt.userData))
			if err != nil {
				t.Fatal(err)
			}
			r, err := newReport(d, "bios", "img-1")
			if (err == nil) != (tt.wantErr == "") || (err != nil && !strings.Contains(err.Error(), tt.wantErr)) {
				t.Fatalf("error %v, want %q in it", err, tt.wantErr)
			}
			if r.Form.Get("meta_data") != `{"uuid":"u1","hostname":"n1.org"}` || r.Form.Get("network_data") != `{"links":[]}` {
				t.Errorf("of the drive %v is reported", r.Form)
			}
			if r.URL != tt.url || r.Form.Get("instance_id") != "u1" || r.Form.Get("hostname") != "n1" ||
				r.Form.Get("fqdn") != "n1.org" {
				t.Errorf("report %+v", r)
			}
		})
	}
}

func FuzzNewReport(f *testing.F) {
	f.Add([]byte("#cloud-config\nphone_home:\n  url: http://h/\n"))
	f.Add([]byte("#cloud-config\nphone_home: 7\n"))
	f.Fuzz(func(t *testing.T, userData []byte) {
		r, err := newReport(drive{UserData: userData}, "uefi", "i")
		if err == nil && r.Form.Get("boot") != "uefi" {
			t.Error("no form")
		}
	})
}

func TestSendRetriesUntilAccepted(t *testing.T) {
	var got []url.Values
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		if got = append(got, r.PostForm); len(got) == 1 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	r := report{URL: server.URL, Form: url.Values{"hostname": {"n1"}}}
	if err := r.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]url.Values{r.Form, r.Form}, got); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	server.Close()
	if err := r.send(ctx); err == nil || !strings.Contains(err.Error(), "gave up") {
		t.Errorf("error %v, want one that says it gave up", err)
	}
}

func event(kind, code uint16, value uint32) []byte {
	b := make([]byte, eventSize)
	binary.LittleEndian.PutUint16(b[16:], kind)
	binary.LittleEndian.PutUint16(b[18:], code)
	binary.LittleEndian.PutUint32(b[20:], value)
	return b
}

func TestWaitForPower(t *testing.T) {
	other := append(event(eventKey, 30, 1), event(eventKey, keyPower, 0)...)
	if err := waitForPower(bytes.NewReader(append(other, event(eventKey, keyPower, 1)...))); err != nil {
		t.Errorf("power key pressed: %v", err)
	}
	if err := waitForPower(bytes.NewReader(other)); !errors.Is(err, io.EOF) {
		t.Errorf("other keys: %v", err)
	}
}

func TestResolvConf(t *testing.T) {
	if got :=
		string(resolvConf([]net.IP{{10, 0, 2, 3}, {10, 0, 2, 4}})); got != "nameserver 10.0.2.3\nnameserver 10.0.2.4\n" {
		t.Errorf("got %q", got)
	}
}
