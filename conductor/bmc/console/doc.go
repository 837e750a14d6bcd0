// Package console shares the serial consoles of machines: one connection to a BMC, any number of readers, one writer.
// The last 64 KiB are kept for new viewers and for the log of the next boot. A connection that breaks is made again.
//
// It must not know protocols of BMCs or of clients: its caller passes a function that opens a line. A reader that does
// not read is dropped, so that it slows no other reader.
package console
