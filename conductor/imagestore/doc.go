// Package imagestore keeps the bytes of images in a folder, by digest. Images that operators gave this conductor stay
// until they are removed. Images that were pulled through it stay as long as there is room.
//
// A file appears under its name only once all of it was read and its checksum was found right. A pulled image is served
// while it comes, to any number of readers from one transfer; its last bytes are held back until it is verified. Files
// go out by sendfile, so memory does not depend on sizes or readers.
//
//	DIR/stored/HEX    an operator's image, by its sha256
//	DIR/cache/KEY     a pulled image, by its checksum and URL
//	DIR/partial/      incomplete images, and notes about them
//
// It must know neither names of images nor nodes, and decides nothing about permissions.
package imagestore
