package inventory

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const imageHelp = `Images that the conductor keeps under a name, for deploys and for booting:

  ferrite image add debian-12 debian-12-genericcloud-amd64.qcow2
  ferrite node deploy web-1 --image debian-12

An image is a disk (raw or qcow2, a raw one also compressed), an ISO, a kernel or a
ramdisk. The conductor finds out which, and its checksum. The bytes under a name do not
change: delete the image and add it again, or use another name.

The commands build, inspect and iso make the ramdisk with Ferrite's agent. They ask no
conductor.`

// ImageCommand is ferrite image.
func ImageCommand(s *client.Session) *cobra.Command {
	return client.Group("image", "Images to deploy, by name; the ramdisk that machines boot", imageHelp,
		imageAdd(s), imageList(s), imageShow(s), imageDelete(s))
}

func imagePath(ref string) string { return nodeapi.ImagesPath + "/" + url.PathEscape(ref) }

func imageList(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List images, and those that are being added",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var reply struct {
				Images json.RawMessage `json:"images"`
			}
			if err := s.Client.Do(cmd.Context(), "GET", nodeapi.ImagesPath, nil, &reply); err != nil {
				return noImages(s, err)
			}
			return output.PrintAny(s, cmd.OutOrStdout(), reply.Images, output.RowsOf(s, reply.Images, imageColumns()))
		},
	}
}

func imageColumns() []output.Column {
	sized := func(field string) func(map[string]any) string {
		return func(item map[string]any) string {
			bytes, _ := strconv.ParseInt(output.Cell(item[field]), 10, 64) // absent: not known yet
			return wait.SizeText(bytes)
		}
	}
	return append(output.Columns("name", "owner", "state", "format"),
		output.Column{Field: "size", Text: sized("size")},
		output.Column{Field: "virtual_size", Head: "on disk", Text: sized("virtual_size")},
		output.Column{Field: "created_at", Wide: true}, output.Column{Field: "created_by", Wide: true},
		output.Column{Field: "digest", Wide: true}, output.Column{Field: "uuid", Wide: true})
}

func imageShow(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "show IMAGE",
		Short: "Show one image",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return noImages(s, output.ShowPath(s, cmd, imagePath(args[0])))
		},
	}
}

func imageDelete(s *client.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "delete IMAGE...",
		Short: "Delete images and their bytes, or cancel their transfer",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wait.Each(args, func(ref string) error {
				if err := s.Client.Do(cmd.Context(), "DELETE", imagePath(ref), nil, nil); err != nil {
					return noImages(s, err)
				}
				return output.Say(s, cmd, "deleted image %s\n", ref)
			})
		},
	}
}

// noImages explains the 404 of a server that has no such resource.
func noImages(s *client.Session, err error) error {
	if client.Unserved(err) {
		return fmt.Errorf("the server at %s keeps no images: it is an Ironic, or an older Ferrite (%w)", s.Client.Base, err)
	}
	return err
}
