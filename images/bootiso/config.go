package bootiso

import (
	"fmt"
	"strings"
)

// maxLine is the length of a kernel line on x86: COMMAND_LINE_SIZE without its NUL, and without the
// words that boot loaders add.
const maxLine = 2047 - 128

// kernelWords are the words of a kernel line. GRUB escapes quotes and backslashes when it joins
// them, which the kernel does not undo.
func kernelWords(line string) ([]string, error) {
	words := strings.Fields(line)
	if n := len(strings.Join(words, " ")); n > maxLine {
		return nil, fmt.Errorf("the kernel line has %d bytes, a boot medium takes %d: shorten kernel_append_params",
			n, maxLine)
	}
	for _, w := range words {
		if strings.ContainsAny(w, `'"\`) || strings.ContainsFunc(w, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("the kernel line holds a quote, a backslash or a control character in its word "+
				"%.40q: boot loaders would change it, take it out", nameOf(w))
		}
	}
	return words, nil
}

// nameOf is the part of a word before its value, which may be a secret.
func nameOf(word string) string {
	name, _, _ := strings.Cut(word, "=")
	return name
}

// grubConfig starts the kernel by GRUB. A failure stays on the screen for a while before the
// firmware goes on to its next device.
func grubConfig(words []string) string {
	var quoted strings.Builder
	for _, w := range words {
		quoted.WriteString(" '" + w + "'")
	}
	return fmt.Sprintf(`set timeout=0
echo 'Ferrite: loading the kernel'
if linux /%s%s; then
  echo 'Ferrite: loading the ramdisk'
  if initrd /%s /%s; then
    boot
  fi
fi
echo 'Ferrite: this medium does not boot, see the error above. Does the BMC reach the server of the image?'
sleep 30
exit
`, pathKernel, quoted.String(), pathOverlay, pathInitrd)
}

// isolinuxConfig starts the kernel by ISOLINUX.
func isolinuxConfig(words []string) string {
	return fmt.Sprintf(`DEFAULT ferrite
PROMPT 0
SAY Ferrite: loading the kernel and the ramdisk
LABEL ferrite
  KERNEL /%s
  INITRD /%s,/%s
  APPEND %s
`, pathKernel, pathOverlay, pathInitrd, strings.Join(words, " "))
}
