package boot

import (
	"testing"
	"testing/fstest"

	"github.com/ferrite-metal/ferrite/agent/param"
)

// TestConsoleShell goes through every word of the kernel line, with a ramdisk that offers a shell and another without,
// and a kernel line that is broken.
func TestConsoleShell(t *testing.T) {
	plain, offers := fstest.MapFS{}, fstest.MapFS{ShellFile: {Data: []byte("enter\n")}}
	for name, c := range map[string]struct {
		asked  param.Shell
		root   fstest.MapFS
		broken bool
		want   param.Shell
	}{
		"not built in":               {param.ShellByImage, plain, false, param.ShellNever},
		"not built in, broken line":  {param.ShellByImage, plain, true, param.ShellNever},
		"built in":                   {param.ShellByImage, offers, false, param.ShellOnEnter},
		"built in, broken line":      {param.ShellByImage, offers, true, param.ShellAtOnce},
		"asked for at Enter":         {param.ShellOnEnter, plain, false, param.ShellOnEnter},
		"asked for at once":          {param.ShellAtOnce, plain, false, param.ShellAtOnce},
		"refused, though built in":   {param.ShellNever, offers, false, param.ShellNever},
		"refused, and a broken line": {param.ShellNever, offers, true, param.ShellNever},
	} {
		got := ConsoleShell(c.asked, c.root, c.broken)
		if got.Shell != c.want || got.Hint == "" {
			t.Errorf("%s: %+v, want %d and a hint", name, got, c.want)
		}
	}
}
