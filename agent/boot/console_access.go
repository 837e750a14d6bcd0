package boot

import (
	"io/fs"

	"github.com/ferrite-metal/ferrite/agent/param"
)

// ShellFile is the file by which a ramdisk offers a root shell on its consoles. `ferrite ramdisk build --console-shell`
// writes it. A ramdisk without it gives none. The consoles of real machines stand open in a data centre, and their
// readers, through BMCs, need not own the machine.
const ShellFile = "etc/ferrite/console-shell"

// Access is when the consoles give a shell, and the line the screen shows of it.
type Access struct {
	Shell param.Shell // never ShellByImage
	Hint  string
}

// ConsoleShell decides on the shell from the kernel line (asked) and from the
// ramdisk's files (root). With a kernel line the agent cannot start with
// (broken), a shell on offer needs no Enter, since nothing else is left to do.
func ConsoleShell(asked param.Shell, root fs.FS, broken bool) Access {
	_, err := fs.Stat(root, ShellFile)
	switch {
	case asked == param.ShellNever:
		return Access{param.ShellNever, "no shell here: ferrite.shell on the kernel's command line says so"}
	case asked == param.ShellByImage && err != nil:
		return Access{param.ShellNever, "no shell here: build the ramdisk with --console-shell, " +
			"or boot with ferrite.shell=enter"}
	case asked == param.ShellAtOnce || broken:
		return Access{param.ShellAtOnce, enterHint}
	}
	return Access{param.ShellOnEnter, enterHint}
}

const enterHint = "Enter: a shell on this console"
