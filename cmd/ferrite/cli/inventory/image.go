package inventory

import (
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/noun"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var images = noun.Noun{
	Use: "image", Short: "Images to deploy, by name",
	Long: `Images that the conductor keeps under a name, for deploys and for booting:

  ferrite image add debian-12 debian-12-genericcloud-amd64.qcow2
  ferrite node deploy web-1 --image debian-12

An image is a disk (raw or qcow2, a raw one also compressed), an ISO, a kernel or a
ramdisk. The conductor finds out which, and its checksum. The bytes under a name do not
change: delete the image and add it again, or use another name.

The ramdisk with Ferrite's agent, which machines boot, is made by: ferrite ramdisk build`,
	Arg: "IMAGE", Path: nodeapi.ImagesPath, Lacks: noImages,
	Columns: append(output.Columns("name", "owner", "state", "format"),
		output.Column{Field: "size", Text: sized("size")},
		output.Column{Field: "virtual_size", Head: "on disk", Text: sized("virtual_size")},
		output.Column{Field: "created_at", Wide: true}, output.Column{Field: "created_by", Wide: true},
		output.Column{Field: "digest", Wide: true}, output.Column{Field: "uuid", Wide: true}),
	Verbs: []noun.Verb{
		{Use: "list", Short: "List images, including those being added", Key: "images"},
		noun.Show,
		{Use: "delete IMAGE...", Short: "Delete images and their bytes, or cancel their transfer", Method: "DELETE",
			Path: "/{0}", Done: "deleted image {0}"},
	},
	Own: []func(*client.Session) *cobra.Command{imageAdd},
}

// noImages is the lack of a server without images.
const noImages = "keeps no images"

func imagePath(ref string) string { return nodeapi.ImagesPath + "/" + url.PathEscape(ref) }

// sized is the text of a field that is a number of bytes; nothing while it is not known.
func sized(field string) func(map[string]any) string {
	return func(item map[string]any) string {
		bytes, _ := strconv.ParseInt(output.Cell(item[field]), 10, 64)
		return wait.SizeText(bytes)
	}
}
