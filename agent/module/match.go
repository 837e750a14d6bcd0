package module

import (
	"path"
	"strings"
)

// asPath turns a pattern of fnmatch(3), the syntax of modules.alias, into one of path.Match: two signs differ. A star
// of fnmatch runs over slashes, which names of devices in a device tree and in DMI texts may have.
var asPath = strings.NewReplacer("[!", "[^", "/", "\x00")

// match reports whether name matches a pattern of modules.alias. A pattern with a set that is never closed matches
// nothing: modpost writes none.
func match(pattern, name string) bool {
	ok, err := path.Match(asPath.Replace(pattern), strings.ReplaceAll(name, "/", "\x00"))
	return ok && err == nil
}
