package sitestep

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is how much of a script's first line the kernel reads.
const maxLine = 256

// CheckProgram refuses a program that a ramdisk cannot start: for another processor, or with shared libraries. For a
// script it returns its interpreter, an absolute path that the caller has to find; "" for a binary.
func CheckProgram(r io.ReaderAt, machine elf.Machine) (interpreter string, err error) {
	head := make([]byte, maxLine)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = head[:n]
	if text, script := bytes.CutPrefix(head, []byte("#!")); script {
		line, _, _ := strings.Cut(string(text), "\n")
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
			return "", fmt.Errorf("its first line is %q: expected #! and the path of an interpreter", "#!"+line)
		}
		return words[0], nil
	}
	f, err := elf.NewFile(r)
	if err != nil {
		return "", fmt.Errorf("expected a static ELF program, or a script that begins with #!: %w", err)
	}
	if f.Machine != machine || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return "", fmt.Errorf("expected a program for %s, found %s for %s", machine, f.Type, f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		path, err := io.ReadAll(io.LimitReader(p.Open(), maxLine))
		if err != nil {
			return "", err
		}
		return "", fmt.Errorf("it is linked dynamically and needs %s, which no ramdisk has: build it static "+
			"(Go: CGO_ENABLED=0, C: -static)", strings.TrimRight(string(path), "\x00"))
	}
	return "", nil
}
