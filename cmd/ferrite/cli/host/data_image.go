package host

import (
	"context"
	"fmt"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// imageOf is the DataImage of a host; the zero one for none.
func imageOf(ctx context.Context, s *client.Session, h hostapi.Host) (image hostapi.DataImage) {
	k, _ := hostapi.KindOf(hostapi.KindDataImage)
	if readDocument(ctx, s, k, h.Namespace, h.Name, &image) != nil {
		return hostapi.DataImage{} // the host's own status shows the trouble
	}
	return image
}

// hostDataImage shows the image for the host's virtual drive, and the error that keeps it from going in or out. While
// the error lasts, the machine does not start.
func hostDataImage(h hostapi.Host, i hostapi.DataImage) section {
	s := section{title: "Data image"}
	is, e := i.Status.AttachedImage.URL, i.Status.Error
	s.row("wanted", i.Spec.URL)
	s.row("in the drive", is)
	if i.DeletionTimestamp != nil {
		s.row("deleted", wait.Clock(i.DeletionTimestamp.Time))
	}
	s.row("error", e.Message)
	switch {
	case e.Message != "" && e.Count > 1:
		s.row("", fmt.Sprintf("%d times in a row", e.Count))
	case e.Message == "" && (i.DeletionTimestamp != nil || is != i.Spec.URL):
		s.row("changes", "at the next reboot")
	}
	if e.Message != "" && h.Spec.Online && !h.Status.PoweredOn {
		s.row("meanwhile", "the machine stays off; correct spec.url, or ferrite delete dataimage "+i.Name+inNamespace(h)+
			", which starts it without")
	}
	return s
}
