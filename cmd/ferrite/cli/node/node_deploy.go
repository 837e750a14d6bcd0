package node

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/wait"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const imageHelp = `The image is a raw or qcow2 disk image. A raw image may be compressed with gzip or zstd.
It is the name of an image that the conductor keeps (ferrite image list), or a URL.

A URL needs a checksum: sha256 or sha512 in hex, or the URL of a file of checksums. Its
length shows the algorithm; "sha512:..." names it. Ferrite refuses md5. The conductor
knows the checksum of its own images.

The config drive is one of these:

  a folder with meta_data.json, user_data, network_data.json, vendor_data.json
  an ISO file, or a file with the base64 of a gzipped ISO
  a JSON object with meta_data, user_data, network_data, vendor_data
  a URL

--steps adds steps to the deploy. Each has a priority: 99 to 41 while the ramdisk runs, higher
ones before, lower ones after. Priority 0 takes a step away.`

var deploy = verb{
	name: "deploy", target: "active", goal: wait.ProvisionGoal("active"),
	short: "Write an operating system to a machine and boot it",
	long:  "Write an operating system to a machine and boot it. The machine must be available.\n\n" + imageHelp,
	care:  caution.Care{Force: caution.OfHost}, args: imageArgs, example: imageExample("deploy"),
	flags: imageFlags("active"),
}

var rebuild = verb{
	name: "rebuild", target: "rebuild", goal: wait.ProvisionGoal("active"),
	short: "Write the operating system of a machine again",
	long:  "Write the operating system of an active machine again. Data on its disk is lost.\n\n" + imageHelp,
	care: caution.Care{Force: caution.OfHost,
		Question: caution.Always("This writes the operating system of NAMES again, and loses the data on the disk.")},
	args: imageArgs, example: imageExample("rebuild"), flags: imageFlags("rebuild"),
}

const imageArgs = " [--image NAME|URL] [--checksum SUM] [--config-drive DATA] [--steps FILE]"

func imageExample(verb string) string {
	return "  ferrite node " + verb + " m1 --image debian-12 --wait\n  ferrite node " + verb +
		" m1 --image http://10.0.0.1/debian.qcow2 --checksum sha256:0a1b... --config-drive ./seed --wait"
}

// image holds the flags of the image to write; they become instance_info.
type image struct {
	url, checksum, format string
	rootDevice            []string
}

// imageFlags are the flags of verbs that write an image, which becomes part of the node's record.
func imageFlags(target string) bodyFlags {
	return func(s *client.Session, cmd *cobra.Command) body {
		var img image
		f := cmd.Flags()
		f.StringVar(&img.url, "image", "",
			"image to deploy, as `NAME|URL`; without it, image_source of instance_info")
		f.StringVar(&img.checksum, "checksum", "", "checksum of the image, or the URL of a file of checksums")
		f.StringVar(&img.format, "image-format", "", "raw or qcow2; detected when left out")
		f.StringArrayVar(&img.rootDevice, "root-device", nil,
			"KEY=HINT that selects the disk, like serial=XYZ; repeat it")
		drive := f.String("config-drive", "",
			"`file`, folder, JSON or URL with data for the first boot of the operating system")
		file := f.String("steps", "", "list of {interface, step, args, priority}, as JSON or a `file` of JSON or YAML")
		return func(cmd *cobra.Command, nodes []string) (any, error) {
			steps, err := readStepList(*file)
			if err != nil {
				return nil, err
			}
			if err := checkTyped(s, cmd, nodes, "deploy", added(steps)); err != nil {
				return nil, err
			}
			body := nodeapi.Provision{Target: target, DeploySteps: steps}
			if *drive != "" {
				if body.ConfigDrive, err = readConfigDrive(*drive); err != nil {
					return nil, fmt.Errorf("--config-drive: %w", err)
				}
			}
			if img.url == "" {
				warnNoImage(s, cmd, nodes)
			}
			ops, err := img.patch()
			if err != nil || len(ops) == 0 {
				return body, err
			}
			return imageRequest{Provision: body, verb: cmd.Name(), ops: ops}, nil
		}
	}
}

// added are the steps that a deploy gets more. Priority 0 takes one away, which the node need not have.
func added(steps []nodeapi.Step) (more []nodeapi.Step) {
	for _, st := range steps {
		if st.Priority == nil || *st.Priority > 0 {
			more = append(more, st)
		}
	}
	return more
}

// warnNoImage warns of nodes without an image that the conductor deploys all the same, as Ironic does: their deploy
// interface is fake. A script that was tried with them would be refused with a machine. Where the state refuses
// the verb, that reason stands alone.
func warnNoImage(s *client.Session, cmd *cobra.Command, nodes []string) {
	wait.Some(nodes, func(name string) {
		var n struct {
			State  string         `json:"provision_state"`
			Deploy string         `json:"deploy_interface"`
			Info   map[string]any `json:"instance_info"`
		}
		err := s.Client.Do(cmd.Context(), "GET", client.NodePath(name)+"?fields=provision_state,deploy_interface,instance_info",
			nil, &n)
		if err == nil && allowed(cmd.Name(), n.State) && n.Deploy == "fake" && n.Info["image_source"] == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: node %s has no image, and its deploy interface fake writes none; with a "+
				"machine this needs --image\n", name)
		}
	})
}

// source is the image as instance_info has it: image:NAME for a name.
func (i image) source() string {
	if strings.Contains(i.url, ":") {
		return i.url
	}
	return "image:" + i.url
}

var hexSum = regexp.MustCompile(`^[0-9a-fA-F]+$`)

// patch sets instance_info. A new image takes the old one's checksums and mirrors away.
func (i image) patch() ([]nodeapi.Patch, error) {
	info := map[string]any{}
	if !strings.Contains(i.url, ":") && strings.Contains(i.url, "/") {
		return nil, fmt.Errorf("--image %s: expected the name of an image that the conductor keeps, or a URL; "+
			"found the path of a file\n  add the file first: ferrite image add NAME %s", i.url, i.url)
	}
	if i.url != "" {
		info["image_source"], info["image_mirrors"] = i.source(), nil
		info["image_checksum"], info["image_os_hash_algo"], info["image_os_hash_value"] = nil, nil, nil
	}
	if i.checksum != "" {
		algo, sum, err := splitChecksum(i.checksum)
		if err != nil {
			return nil, err
		}
		info["image_checksum"], info["image_os_hash_algo"], info["image_os_hash_value"] = sum, nil, nil
		if algo != "" {
			info["image_checksum"], info["image_os_hash_algo"], info["image_os_hash_value"] = nil, algo, sum
		}
	}
	if i.format != "" {
		info["image_disk_format"] = i.format
	}
	if len(i.rootDevice) > 0 {
		hints, err := output.Pairs("root-device", i.rootDevice, hintText)
		if err != nil {
			return nil, err
		}
		info["root_device"] = hints
	}
	var ops []nodeapi.Patch
	for _, key := range output.Sorted(info) {
		path := "/instance_info/" + output.Pointer(key)
		if info[key] == nil {
			// "add" before "remove": the key may not be there.
			ops = append(ops, nodeapi.Patch{Op: "add", Path: path, Value: ""}, nodeapi.Patch{Op: "remove", Path: path})
			continue
		}
		ops = append(ops, nodeapi.Patch{Op: "add", Path: path, Value: info[key]})
	}
	return ops, nil
}

// splitChecksum finds the algorithm by the length of the sum; "" for md5 and
// for a URL, which have a field of their own.
func splitChecksum(s string) (algo, sum string, err error) {
	if strings.Contains(s, "://") {
		return "", s, nil
	}
	algo, sum, named := strings.Cut(s, ":")
	if !named {
		algo, sum = "", s
	}
	byLength := map[int]string{32: "md5", 40: "sha1", 64: "sha256", 96: "sha384", 128: "sha512"}[len(sum)]
	switch {
	case !hexSum.MatchString(sum) || byLength == "":
		return "", "", fmt.Errorf("--checksum %q: expected hex of sha256 (64) or sha512 (128 characters), or the URL of a "+
			"file of checksums; found %d characters", s, len(sum))
	case named && algo != byLength:
		return "", "", fmt.Errorf("--checksum %q: a sum of %d characters is %s, not %s", s, len(sum), byLength, algo)
	case byLength == "md5":
		return "", sum, nil
	}
	return byLength, sum, nil
}
