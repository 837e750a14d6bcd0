// Package browser takes a QEMU machine through its life in Chromium, from an empty conductor on: once by mouse, once by
// keyboard alone. The package has tests alone.
package browser
