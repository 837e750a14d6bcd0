package steps

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

func TestWriteImage(t *testing.T) {
	content, drive := gptImage(t), iso(t)
	packed, err := configdrive.Encode(drive)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, "/dev/vda")
	b.fill(t, "/dev/vda")
	result, err := Execute(t.Context(), b.Machine, Deploy,
		Request{Step: agentapi.Step{Interface: "deploy", Step: "write_image", Args: args(serve(t, content), packed)}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "prepare_image: image (tiny) written to device /dev/vda root_uuid=0x00000000"; result != want {
		t.Errorf("result %q", result)
	}
	if got := b.read(t, "/dev/vda", 4*mib, 1024); !bytes.Equal(got, content[4*mib:4*mib+1024]) {
		t.Error("the image's data is not on the disk")
	}
	dev, err := b.Open(t.Context(), "/dev/vda")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close() // only read from
	table, err := disk.ReadTable(dev)
	if err != nil {
		t.Fatal(err)
	}
	parts := table.Parts()
	last := parts[len(parts)-1]
	if len(parts) != 2 || last.Name != configdrive.Label || last.Start+last.Size < diskSize-2*mib {
		t.Errorf("partitions %+v", parts)
	}
	if got := b.read(t, "/dev/vda", last.Start, len(drive)); !bytes.Equal(got, drive) {
		t.Error("the config drive is not in its partition")
	}
	checkBackup(t, b.read(t, "/dev/vda", diskSize-512, 512))
	if diff := cmp.Diff(map[string]any{"root uuid": "0x00000000"}, b.PartitionUUIDs()); diff != "" {
		t.Error(diff)
	}
	end := b.progress[len(b.progress)-1]
	if end.Stage != "config drive" || !slices.ContainsFunc(b.progress,
		func(p agentapi.Progress) bool { return p.Done == 8*mib && p.Total == 8*mib }) {
		t.Errorf("progress %+v", b.progress)
	}
}

// checkBackup looks at the GPT header in the disk's last sector.
func checkBackup(t *testing.T, h []byte) {
	t.Helper()
	if string(h[:8]) != "EFI PART" || binary.LittleEndian.Uint64(h[24:]) != diskSize/512-1 {
		t.Fatalf("no backup GPT at the end of the disk: % x", h[:32])
	}
	sum := binary.LittleEndian.Uint32(h[16:])
	head := slices.Clone(h[:92])
	copy(head[16:20], []byte{0, 0, 0, 0})
	if got := crc32.ChecksumIEEE(head); got != sum {
		t.Errorf("backup GPT has CRC %08x, expected %08x", sum, got)
	}
}

func TestWriteImageFailures(t *testing.T) {
	content := gptImage(t)
	good := serve(t, content)
	hits := 0
	missing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		hits++
		http.NotFound(w, r)
	}))
	defer missing.Close()
	huge := make([]byte, 512) // a qcow2 header for a disk of 1 TiB
	copy(huge, "QFI\xfb\x00\x00\x00\x03")
	binary.BigEndian.PutUint64(huge[24:], 1<<40)
	with := func(change func(*agentapi.ImageInfo)) agentapi.ImageInfo { i := good; change(&i); return i }
	wrong := strings.Repeat("11", 32)
	tests := map[string]struct {
		info    agentapi.ImageInfo
		drive   string
		node    agentapi.CommandNode
		kind    string
		text    string
		touched bool
	}{
		"wrong checksum": {
			info: with(func(i *agentapi.ImageInfo) { i.OSHashValue = wrong }),
			kind: "ImageChecksumError", text: "expected " + wrong + ", found " + good.OSHashValue, touched: true,
		},
		"no such image": {info: with(func(i *agentapi.ImageInfo) { i.URLs = []string{missing.URL} }),
			kind: "ImageDownloadError", text: "404"},
		"disk too small": {info: with(func(i *agentapi.ImageInfo) { *i = serve(t, huge); i.DiskFormat = "qcow2" }),
			kind: "DeviceNotFound", text: "none has 1099.5 GB"},
		"no table in it": {info: serve(t, bytes.Repeat([]byte("dat\x00"), mib)), kind: "ImageWriteError",
			text: "partition table", touched: true},
		"a page": {info: serve(t, []byte("<!doctype html><title>Log in</title>")), kind: "InvalidImage",
			text: "it is an HTML page; it came in place of the image"},
		"no checksum": {info: with(func(i *agentapi.ImageInfo) { i.OSHashAlgo, i.OSHashValue = "", "" }),
			kind: "InvalidImage", text: "cannot be verified"},
		"config drive is no ISO": {info: good, drive: base64.StdEncoding.EncodeToString([]byte("hello")),
			kind: "InvalidImage", text: "ISO 9660"},
		"hint of no disk": {
			info: good, node: agentapi.CommandNode{Properties: map[string]any{"root_device": map[string]any{"serial": "other"}}},
			kind: "DeviceNotFound", text: "serial=other",
		},
		"disk kept for others": {
			info: good,
			node: agentapi.CommandNode{
				Properties: map[string]any{"skip_block_devices": []any{map[string]any{"name": "/dev/vda"}}},
			},
			kind: "DeviceNotFound", text: "in skip_block_devices, by {name=/dev/vda}",
		},
		"bad authorization": {info: with(func(i *agentapi.ImageInfo) { i.RequestAuthorize = "%" }),
			kind: "ImageDownloadError", text: "image_request_authorization"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "/dev/vda")
			b.fill(t, "/dev/vda")
			_, err := Execute(t.Context(), b.Machine, Deploy,
				Request{Step: agentapi.Step{Step: "write_image", Args: args(tc.info, tc.drive)}, Node: tc.node})
			var ce *agentapi.CommandError
			if !errors.As(err, &ce) || ce.Type != tc.kind || !strings.Contains(ce.Details, tc.text) {
				t.Fatalf("error %#v", err)
			}
			for _, off := range []int64{0, diskSize - mib} {
				zeroed := bytes.Equal(b.read(t, "/dev/vda", off, mib), make([]byte, mib))
				if zeroed != tc.touched {
					t.Errorf("the disk at %d is wiped: %v", off, zeroed)
				}
			}
			if len(b.PartitionUUIDs()) != 0 {
				t.Error("a failed image is reported as written")
			}
		})
	}
	if hits != 1 {
		t.Errorf("a missing image was asked for %d times", hits)
	}
}

// TestTableIsMissedEarly: the first MiB shows that an image is of the wrong kind. The server sends four, and then
// waits: a reader that needs more never gets it.
func TestTableIsMissedEarly(t *testing.T) {
	whole := gptImage(t)
	file := append(make([]byte, 2*mib), bytes.Repeat([]byte("root"), 8*mib/4)...) // a file system without a table
	for name, tc := range map[string]struct {
		content []byte
		change  func(*agentapi.ImageInfo)
		text    string
	}{
		"a whole disk expected": {file, func(*agentapi.ImageInfo) {}, "image_type=partition"},
		"a partition expected": {whole, func(i *agentapi.ImageInfo) {
			i.ImageType, i.RootMB, i.DeployBootMode = agentapi.PartitionImage, 16, "bios"
		}, "the image is of a whole disk, with 1 partitions"},
	} {
		t.Run(name, func(t *testing.T) {
			info := serve(t, tc.content)
			given := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if from := r.Header.Get("Range"); from != "" && from != "bytes=0-" {
					http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(tc.content))
					return
				}
				w.Header().Set("Content-Length", fmt.Sprint(len(tc.content)))
				w.Write(tc.content[:4*mib])
				select {
				case <-r.Context().Done():
					close(given)
				case <-time.After(20 * time.Second):
				}
			}))
			defer srv.Close()
			tc.change(&info)
			info.URLs = []string{srv.URL}
			b := newBench(t, "/dev/vda")
			b.config.EnableBIOSBootloaderInstall = true
			b.fill(t, "/dev/vda")
			_, err := b.PrepareImage(t.Context(), agentapi.CommandNode{}, agentapi.PrepareImageParams{ImageInfo: info})
			var ce *agentapi.CommandError
			if !errors.As(err, &ce) || !strings.Contains(ce.Details, tc.text) {
				t.Errorf("error %v", err)
			}
			select {
			case <-given:
			case <-time.After(5 * time.Second):
				t.Error("the rest of the image was waited for")
			}
			if !bytes.Equal(b.read(t, "/dev/vda", 0, mib), make([]byte, mib)) {
				t.Error("the disk's start is not empty")
			}
		})
	}
}

func TestSecondURLIsTried(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	defer dead.Close()
	b := newBench(t, "/dev/vda")
	info := serve(t, gptImage(t))
	info.URLs = append([]string{dead.URL}, info.URLs...)
	if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
		agentapi.PrepareImageParams{ImageInfo: info}); err != nil {
		t.Error(err)
	}
}

// TestMirrorInTheMiddle: a server that breaks for good half way is left for the
// next, which goes on there.
func TestMirrorInTheMiddle(t *testing.T) {
	content := gptImage(t)
	info := serve(t, content)
	dying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := r.Header.Get("Range"); from != "" && from != "bytes=0-4095" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		http.ServeContent(&halfWriter{w, len(content) / 2}, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer dying.Close()
	b := newBench(t, "/dev/vda")
	b.Download.RetryInterval = time.Millisecond
	info.URLs = append([]string{dying.URL}, info.URLs...)
	if _, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
		agentapi.PrepareImageParams{ImageInfo: info}); err != nil {
		t.Error(err)
	}
	if got := b.read(t, "/dev/vda", 4*mib, 1024); !bytes.Equal(got, content[4*mib:4*mib+1024]) {
		t.Error("the image's data is not on the disk")
	}
}

// halfWriter breaks the connection off when its bytes are used up.
type halfWriter struct {
	http.ResponseWriter
	left int
}

func (w *halfWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		panic(http.ErrAbortHandler)
	}
	w.left -= len(p)
	return w.ResponseWriter.Write(p)
}

// TestDownloadIsTriedAgain: while a download is tried again, an operator sees why it does not begin. On a machine
// without a name server the error says so.
func TestDownloadIsTriedAgain(t *testing.T) {
	b := newBench(t, "/dev/vda")
	b.Download = Download{Retries: 1, RetryInterval: time.Millisecond}
	lookup := &net.DNSError{Err: "connection refused", Name: "images.example", Server: "[::1]:53", IsTemporary: true}
	b.Client = &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, lookup },
	}}
	info := agentapi.ImageInfo{ID: "os", URLs: []string{"http://images.example/os.raw"}, OSHashAlgo: "sha256",
		OSHashValue: strings.Repeat("11", 32)}
	_, err := b.PrepareImage(t.Context(), agentapi.CommandNode{}, agentapi.PrepareImageParams{ImageInfo: info})
	var ce *agentapi.CommandError
	if !errors.As(err, &ce) || !strings.Contains(ce.Details, "given up after 2 tries") ||
		!strings.Contains(ce.Details, "the machine has no name server; set --boot-dns") {
		t.Errorf("error %v", err)
	}
	shown := ""
	for _, p := range b.progress {
		shown += p.Stage + "\n"
	}
	if !strings.HasPrefix(shown, "try 1 of 2 failed: lookup images.example: the machine has no name server; "+
		"set --boot-dns of the conductor, or have the URL name an address\n") ||
		strings.Contains(shown, "try 2 of 2") {
		t.Errorf("progress %q", shown)
	}
}

func TestPermittedFormats(t *testing.T) {
	b := newBench(t, "/dev/vda")
	b.config.PermittedImageFormats = []string{"qcow2"}
	_, err := b.PrepareImage(t.Context(), agentapi.CommandNode{},
		agentapi.PrepareImageParams{ImageInfo: serve(t, gptImage(t))})
	if err == nil || !strings.Contains(err.Error(), "it is raw, the conductor permits qcow2") {
		t.Errorf("error %v", err)
	}
}

func TestConfigDriveForms(t *testing.T) {
	want := iso(t)
	packed, err := configdrive.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	gz, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		t.Fatal(err)
	}
	url := func(content []byte) string { return serve(t, content).URLs[0] }
	for name, drive := range map[string]string{
		"gzip in base64": packed, "wrapped lines": packed[:76] + "\n" + packed[76:],
		"ISO in base64":                           base64.StdEncoding.EncodeToString(want),
		"YAML's folded lines":                     packed[:76] + " " + packed[76:152] + "\r\n\t" + packed[152:] + "\n",
		"URL of base64, compressed by the server": url(pack(t, []byte(packed))),
		"URL of base64":                           url([]byte(packed)), "URL of gzip": url(gz), "URL of ISO": url(want),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for _, p := range []agentapi.PrepareImageParams{{ConfigDrive: drive},
				{ImageInfo: agentapi.ImageInfo{ConfigDrive: drive}}} {
				if got, err := b.configDrive(t.Context(), p); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
		})
	}
	b := newBench(t)
	if got, err := b.configDrive(t.Context(), agentapi.PrepareImageParams{}); got != nil || err != nil {
		t.Errorf("no drive: %v, %v", got, err)
	}
	if _, err := b.configDrive(t.Context(),
		agentapi.PrepareImageParams{ImageInfo: agentapi.ImageInfo{ConfigDrive: 5}}); err == nil {
		t.Error("a number was taken for a config drive")
	}
}

func pack(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
