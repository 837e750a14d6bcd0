package bootmedia

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// bootOf says which boot of n has a medium now: the step that its run is at, or its instance.
func bootOf(n node.Node) string {
	switch {
	case plan.MediumOf(n) == plan.MediumInstance:
		return plan.MediumInstance
	case n.Run != nil:
		return strconv.Itoa(n.Run.Index)
	}
	return ""
}

// The media of a boot, by the end of their paths.
const (
	bootImage     = ".iso" // from which the machine boots
	settingsImage = ".img" // with the settings of its agent
)

// path is the path of a medium of n, from its prefix on; ok is false when n boots no such medium now. A medium with our
// agent ends with the run, and each boot of a run has its own path. A medium with an instance is valid until the node
// boots other files, or is undeployed: the BMC reads it at every start.
func (s *Server) path(n node.Node, boot, image string) (path string, ok bool) {
	secret := ""
	switch medium := plan.MediumOf(n); {
	case boot == plan.MediumInstance:
		own, boots := plan.BootsInstance(n)
		secret = fmt.Sprintf("instance medium\x00%s\x00%q", n.UUID, []string{own.Kernel, own.Ramdisk, own.Cmdline})
		ok = boots && own.ISO == "" && medium == plan.MediumInstance && image == bootImage
	case n.Run != nil:
		what := map[string]string{bootImage: "boot medium", settingsImage: "settings medium"}[image]
		secret = fmt.Sprintf("%s\x00%s\x00%d\x00%s", what, n.UUID, n.Run.Generation, boot)
		ok = medium == plan.MediumRamdisk
	}
	mac := hmac.New(sha256.New, s.Key)
	mac.Write([]byte(secret))
	return Prefix + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) + "/" + n.UUID + "-" + boot + image, ok
}

// nodeOf reads the node, its boot and the image out of a path; the word before them is not checked.
func nodeOf(path string) (uuid, boot, image string, ok bool) {
	_, name, _ := strings.Cut(strings.TrimPrefix(path, Prefix), "/")
	cut := max(0, len(name)-len(bootImage))
	name, image = name[:cut], name[cut:]
	cut = strings.LastIndexByte(name, '-')
	if image != bootImage && image != settingsImage || cut < 0 || len(name) > 64 {
		return "", "", "", false
	}
	boot = name[cut+1:]
	_, err := strconv.Atoi(boot)
	return name[:cut], boot, image, err == nil || boot == plan.MediumInstance
}
