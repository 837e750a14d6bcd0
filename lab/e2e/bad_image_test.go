package e2e

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// badImages asks for images that cannot be deployed: one fails before it is whole, one after. Each fails with its
// reason and leaves a disk that does not boot. So does an image cut off by a power cut. Then a good one goes well, from
// the last of its mirrors. The tests of images/disk and agent/steps have all the other ways to fail.
func badImages(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.BIOS)},
		"--kernel-append",
		site.KernelAppend+" ipa-image-download-connection-retries=2 ipa-image-download-connection-retry-interval=1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := s.Machines[0]
	if _, err := readied(ctx, s, m, false); err != nil {
		return err
	}
	if err := wrongToken(ctx, s, m); err != nil {
		return err
	}
	good := image(s, b.tiny, b.tiny.Raw)
	// The server hangs up again and again.
	if err := s.Images.SetFault("second/"+filepath.Base(b.other.Raw),
		lab.ImageFault{Kind: lab.ImageCut, Bytes: 1}); err != nil {
		return err
	}
	cut := image(s, b.other, b.other.Raw)
	wrong := strings.Repeat("ab", 32)
	for _, bad := range []struct {
		what string
		img  site.Image
		says []string
	}{
		{"cut off", cut, []string{cut.URL, "unexpected EOF"}},
		{"wrong checksum", site.Image{URL: good.URL, SHA256: wrong}, []string{wrong, good.SHA256}},
	} {
		if err := fails(ctx, "bad-image", s, m, bad.img, bad.says); err != nil {
			return fmt.Errorf("image %s: %w", bad.what, err)
		}
	}
	if err := b.powerCut(ctx, s, m); err != nil {
		return fmt.Errorf("power cut: %w", err)
	}
	return b.mirrored(ctx, s, m)
}

// fails deploys and expects a failure with words in its reason, and a disk
// that no firmware would boot. story is the case's name.
func fails(ctx context.Context, story string, s *site.Site, m *lab.Machine, i site.Image, says []string) error {
	if err := s.SetImage(ctx, m.Name, i); err != nil {
		return err
	}
	if err := s.Provision(ctx, m.Name, "active", nil); err != nil {
		return err
	}
	n, err := s.Until(ctx, m.Name, "deploy failed")
	if err != nil {
		return err
	}
	if err := admits(story, n, says); err != nil {
		return err
	}
	return bootsNothing(m)
}

// admits wants last_error to give the reason, and shows it.
func admits(story string, n nodeapi.Node, says []string) error {
	for _, w := range says {
		if !strings.Contains(n.LastError, w) {
			return fmt.Errorf("last_error does not say %q: %s", w, n.LastError)
		}
	}
	say("%s: as it should: %s", story, n.LastError)
	return nil
}

// bootsNothing wants a disk that no firmware would boot.
func bootsNothing(m *lab.Machine) error {
	f, err := os.Open(m.Spec().Disks[0].Path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 1024)
	if _, err := f.ReadAt(head, 0); err != nil {
		return err
	}
	if bytes.Equal(head[510:512], []byte{0x55, 0xaa}) || bytes.HasPrefix(head[512:], []byte("EFI PART")) {
		return errors.New("the disk still has a boot record or partition table: the machine could boot half an image")
	}
	return nil
}

// wrongToken calls like an agent would that guesses its token.
func wrongToken(ctx context.Context, s *site.Site, m *lab.Machine) error {
	n, err := s.Node(ctx, m.Name)
	if err != nil {
		return err
	}
	err = s.Call(ctx, "POST", "/v1/heartbeat/"+n.UUID, map[string]any{
		"callback_url": "https://192.0.2.66:9999", "agent_token": strings.Repeat("x", 43), "agent_version": "9.9",
	}, nil)
	var fault *nodeapi.Fault
	if !errors.As(err, &fault) || fault.Status != http.StatusBadRequest {
		return fmt.Errorf("a heartbeat with a wrong token is not refused: %w", cmp.Or(err, errors.New("202")))
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) { // a queue writes the log
		log, err := os.ReadFile(s.Conductor.Log)
		if err != nil {
			return err
		}
		if bytes.Contains(log, []byte("heartbeat refused")) {
			break
		}
		if time.Now().After(end) {
			return errors.New("the refused heartbeat is not in the conductor's log")
		}
	}
	return nil
}
