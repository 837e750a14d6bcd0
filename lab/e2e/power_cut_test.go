package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// powerCut takes the power away from a machine that writes an image. Nothing on its
// disk would boot. A write must not be cut off by us, so the node waits until its
// deadline, unless its operator takes it back, as here: it is cleaned.
func (b *bed) powerCut(ctx context.Context, s *site.Site, m *lab.Machine) error {
	slow := b.tiny.ID + "/" + filepath.Base(b.tiny.Raw)
	if err := s.Images.SetFault(slow, lab.ImageFault{Kind: lab.ImageSlow, Rate: 3 << 20}); err != nil {
		return err
	}
	defer s.Images.ClearFaults()
	if err := s.SetImage(ctx, m.Name, image(s, b.tiny, b.tiny.Raw)); err != nil {
		return err
	}
	if err := s.Provision(ctx, m.Name, "active", nil); err != nil {
		return err
	}
	if err := moment(ctx, s, m.Name, writing); err != nil {
		return fmt.Errorf("cut it while it writes: %w", err)
	}
	if err := m.Reset(ctx, qemu.ResetForceOff); err != nil {
		return err
	}
	if err := bootsNothing(m); err != nil {
		return err
	}
	st, err := s.Status(ctx, m.Name)
	if err != nil {
		return err
	}
	if want := "the agent to finish deploy.write_image"; st.WaitingFor != want || st.Until.IsZero() {
		return fmt.Errorf("the node waits for %q until %v, expected %q and a deadline", st.WaitingFor, st.Until, want)
	}
	if _, err := s.Ask(ctx, m.Name, "deleted", "available"); err != nil {
		return fmt.Errorf("undeploy: %w", err)
	}
	return nil
}

// writing is when the agent has written some of an image.
func writing(st nodeapi.Status) bool {
	return st.State == "wait call-back" && st.Step == "deploy.write_image" && st.Progress != nil && st.Progress.Done > 0
}

// mirrored deploys an image from servers of which the first has none, the second
// hangs up amid it, and the third goes on from there.
func (b *bed) mirrored(ctx context.Context, s *site.Site, m *lab.Machine) error {
	good := image(s, b.tiny, b.tiny.Raw)
	name := filepath.Base(b.tiny.Raw)
	if err := s.Images.SetFault(b.tiny.ID+"/"+name, lab.ImageFault{Kind: lab.ImageCut, Bytes: 4 << 20}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(b.images, "mirror"), 0o755); err != nil {
		return err
	}
	if err := os.Link(filepath.Join(b.images, b.tiny.ID, name), filepath.Join(b.images, "mirror", name)); err != nil {
		return err
	}
	img := site.Image{
		URL: s.ImagesURL + "/nowhere.raw", SHA256: good.SHA256, Mirrors: []string{good.URL, s.ImagesURL + "/mirror/" + name},
	}
	if err := deploy(ctx, s, m, img, b.tiny.ID, "at-last"); err != nil {
		return err
	}
	st, err := os.Stat(b.tiny.Raw)
	if err != nil {
		return err
	}
	if last := s.Images.Counts()["mirror/"+name]; last.Ranges == 0 || last.Bytes == 0 || last.Bytes >= st.Size() {
		return fmt.Errorf("of the last mirror %+v was read, expected the rest of %d bytes", last, st.Size())
	}
	return nil
}
