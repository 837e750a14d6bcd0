package cli

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// imageOf is the DataImage of a host; the zero one for none.
func (s *session) imageOf(ctx context.Context, h hostapi.Host) (image hostapi.DataImage) {
	k, _ := hostapi.KindOf(hostapi.KindDataImage)
	if s.document(ctx, k, h.Namespace, h.Name, &image) != nil {
		return hostapi.DataImage{} // what matters is said by the host
	}
	return image
}

// hostDataImage is the image for the host's virtual drive, what keeps it from going
// in or out, and what that keeps the host from: its start.
func hostDataImage(h hostapi.Host, i hostapi.DataImage) section {
	s := section{title: "Data image"}
	is, e := i.Status.AttachedImage.URL, i.Status.Error
	s.row("wanted", i.Spec.URL)
	s.row("in the drive", is)
	if i.DeletionTimestamp != nil {
		s.row("deleted", clock(i.DeletionTimestamp.Time))
	}
	s.row("error", e.Message)
	switch {
	case e.Message != "" && e.Count > 1:
		s.row("", fmt.Sprintf("%d times in a row", e.Count))
	case e.Message == "" && (i.DeletionTimestamp != nil || is != i.Spec.URL):
		s.row("changes", "at the next reboot")
	}
	if e.Message != "" && h.Spec.Online && !h.Status.PoweredOn {
		s.row("meanwhile", "the machine stays off; correct spec.url, or ferrite delete dataimage "+i.Name+inNamespace(h)+", which starts it without")
	}
	return s
}
