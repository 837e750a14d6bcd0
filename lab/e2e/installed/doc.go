// Package installed installs Ferrite's package in a QEMU machine with Debian, where systemd runs it. A root folder
// without systemd cannot show that. The package has tests alone.
package installed
