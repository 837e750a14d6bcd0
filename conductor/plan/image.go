package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// imageSource is one form in which instance_info/image_source names the place of an image.
type imageSource struct {
	direct bool // agents are given it as it is; else the conductor finds out where they get it, and its checksum
	formed func(*url.URL) bool
}

// imageSources is where images may come from, by the scheme of their URL.
var imageSources = map[string]imageSource{
	"http":  {true, hasHost},
	"https": {true, hasHost},
	"file":  {false, func(u *url.URL) bool { return u.Host == "" && len(u.Path) > 1 && u.Path[0] == '/' }},
	"oci":   {false, func(u *url.URL) bool { return hasHost(u) && u.User == nil && len(u.Path) > 1 }},
	"image": {false, func(u *url.URL) bool { return node.NamedImage(u.String()) != "" }},
}

// glanceSource is an image by its UUID, which is no URL.
var glanceSource = imageSource{formed: func(*url.URL) bool { return true }}

// imageForms is imageSources for people.
const imageForms = "http(s)://host/path, image:NAME (see: ferrite image list; for a file: ferrite image add NAME " +
	"FILE), the UUID of an image of Glance, oci://registry/repository:tag or @sha256:digest, or file:///path on the " +
	"conductor"

func hasHost(u *url.URL) bool { return u.Host != "" }

// sourceOf parses an image's URL; ok is false if it is no image source.
func sourceOf(rawURL string) (s imageSource, ok bool) {
	if node.GlanceImage(rawURL) != "" {
		return glanceSource, true
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return s, false
	}
	s, known := imageSources[u.Scheme]
	return s, known && s.formed(u)
}

// FoundByConductor reports whether an image is where agents cannot fetch it by
// themselves: in a file of the conductor's, in Glance, or in a container registry.
func FoundByConductor(rawURL string) bool {
	s, ok := sourceOf(rawURL)
	return ok && !s.direct
}

// ImageSource is where the image of a node's instance is; "" when its deploy
// interface writes none.
func ImageSource(n node.Node) string {
	if n.DeployInterface() != "direct" {
		return ""
	}
	return text(n.InstanceInfo, "image_source")
}

// maxImageName is how long a file name may be (NAME_MAX of Linux).
const maxImageName = 255

// imageName is the last segment of the path of an image's URL, which Ironic sends
// as image_info.id: ironic-python-agent makes it the name of a file in /tmp.
func imageName(at string) (string, error) {
	if name := cmp.Or(node.NamedImage(at), node.GlanceImage(at)); name != "" {
		return name, nil
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", fmt.Errorf("instance_info/image_source is no URL: %w", withoutURL(err))
	}
	path := u.EscapedPath()
	name := path[strings.LastIndex(path, "/")+1:]
	if name == "" || name == "." || name == ".." || len(name) > maxImageName {
		return "", fmt.Errorf("the path of instance_info/image_source ends in %.*q, expected a file name of 1 to %d bytes: "+
			"agents name the image by it", maxImageName, name, maxImageName)
	}
	return name, nil
}

// withoutURL is why a URL cannot be parsed, without the URL: it may have a password.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// md5Sum is the form of an MD5 checksum.
var md5Sum = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)

// hexSums are the checksums that agents take, by algorithm.
var hexSums = map[string]*regexp.Regexp{
	"sha256": regexp.MustCompile(`^[0-9a-fA-F]{64}$`), "sha512": regexp.MustCompile(`^[0-9a-fA-F]{128}$`),
}

func hasImage(n node.Node) error {
	at := text(n.InstanceInfo, "image_source")
	if at == "" {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_source is missing; set it to %s",
			n.UUID, imageForms)
	}
	src, ok := sourceOf(at)
	if !ok {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: instance_info/image_source is %q, expected %s", n.UUID,
			at, imageForms)
	}
	if _, err := imageName(at); err != nil {
		return node.Refuse(node.Invalid, "node %s cannot be deployed: %v", n.UUID, err)
	}
	if _, err := imageMirrors(n, src); err != nil {
		return err
	}
	return checksumFits(n, at, src)
}

// checksumFits refuses an image that cannot be verified.
func checksumFits(n node.Node, at string, src imageSource) error {
	sum, value, algo := text(n.InstanceInfo, "image_checksum"), text(n.InstanceInfo, "image_os_hash_value"),
		text(n.InstanceInfo, "image_os_hash_algo")
	switch {
	case src.direct && sum == "" && value == "":
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: image %s has no checksum; set instance_info/image_checksum, or "+
				"instance_info/image_os_hash_algo and instance_info/image_os_hash_value", n.UUID, at)
	case value != "" && algo == "":
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: instance_info/image_os_hash_value needs image_os_hash_algo (sha256 or sha512)", n.UUID)
	case algo == "md5" || md5Sum.MatchString(sum):
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: the checksum of image %s is MD5, which agents refuse since it can be forged; give "+
				"its sha256 or sha512", n.UUID, at)
	case value != "":
		return sumFormed(n, "image_os_hash_value", algo, value)
	case sum == "" || sumsFile(sum):
		return nil
	}
	algo, hex, found := strings.Cut(sum, ":")
	if !found {
		algo, hex = map[bool]string{true: "sha512", false: "sha256"}[len(sum) > 64], sum
	}
	return sumFormed(n, "image_checksum", algo, hex)
}

// sumsFile: a checksum is the URL of a file that has it.
func sumsFile(sum string) bool {
	sum = strings.ToLower(strings.TrimSpace(sum))
	return strings.HasPrefix(sum, "http://") || strings.HasPrefix(sum, "https://")
}

// sumFormed refuses a checksum that no image can have: it would be found out after the
// machine was booted for it.
func sumFormed(n node.Node, key, algo, sum string) error {
	form, known := hexSums[strings.ToLower(strings.TrimSpace(algo))]
	switch {
	case !known:
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: the algorithm of instance_info/%s is %.40q, expected sha256 or sha512",
			n.UUID, key, algo)
	case !form.MatchString(strings.TrimSpace(sum)) && !sumsFile(sum):
		return node.Refuse(node.Invalid,
			"node %s cannot be deployed: instance_info/%s is %.140q (%d characters), expected the hex digits of a sha256 "+
				"(64) or a sha512 (128), or the URL of a file of checksums", n.UUID, key, sum, len(sum))
	}
	return nil
}

// imageMirrors reads instance_info/image_mirrors, which Ironic does not have: more URLs of the same image, in the order
// to try them when image_source fails.
func imageMirrors(n node.Node, src imageSource) ([]any, error) {
	given := n.InstanceInfo["image_mirrors"]
	if given == nil {
		return nil, nil
	}
	list, ok := given.([]any)
	if !ok {
		return nil, node.Refuse(node.Invalid,
			"node %s cannot be deployed: instance_info/image_mirrors is %v, expected a list of http(s) URLs", n.UUID, given)
	}
	if len(list) > 0 && !src.direct {
		return nil, node.Refuse(node.Invalid,
			"node %s cannot be deployed: instance_info/image_mirrors needs an image_source that is an "+
				"http(s) URL itself", n.UUID)
	}
	for i, m := range list {
		at, _ := m.(string)
		if s, ok := sourceOf(at); !ok || !s.direct {
			return nil, node.Refuse(node.Invalid,
				"node %s cannot be deployed: instance_info/image_mirrors/%d is %v, expected an http(s) URL", n.UUID, i, m)
		}
	}
	return list, nil
}

// writeImageArgs is the args of deploy.write_image as Ironic sends them. The
// config drive is left out here: it may be large, and the engine adds it as
// it sends the step.
func writeImageArgs(n node.Node) map[string]any {
	at := text(n.InstanceInfo, "image_source")
	urls := []any{at}
	if src, ok := sourceOf(at); ok {
		mirrors, _ := imageMirrors(n, src) // checked before any step is planned
		urls = append(urls, mirrors...)
	}
	name, _ := imageName(at) // checked before any step is planned
	info := map[string]any{
		"id": name, "urls": urls,
		"stream_raw_images": true, "node_uuid": n.UUID,
		"image_type": agentapi.WholeDisk, "deploy_boot_mode": BootModeOf(n),
	}
	if IsPartitionImage(n) {
		addLayout(info, n)
	}
	for key, from := range map[string]string{
		"checksum": "image_checksum", "os_hash_algo": "image_os_hash_algo", "os_hash_value": "image_os_hash_value",
		"disk_format": "image_disk_format", "container_format": "image_container_format",
	} {
		if v := text(n.InstanceInfo, from); v != "" {
			info[key] = v
		}
	}
	addProxies(info, n)
	return map[string]any{"image_info": info}
}

// addProxies gives the agent the proxies of its download, as Ironic does: no_proxy goes with a proxy only.
func addProxies(info map[string]any, n node.Node) {
	proxies := map[string]any{}
	if at := text(n.DriverInfo, "image_http_proxy"); at != "" {
		proxies["http"] = at
	}
	if at := text(n.DriverInfo, "image_https_proxy"); at != "" {
		proxies["https"] = at
	}
	if len(proxies) == 0 {
		return
	}
	info["proxies"] = proxies
	if hosts := text(n.DriverInfo, "image_no_proxy"); hosts != "" {
		info["no_proxy"] = hosts
	}
}
