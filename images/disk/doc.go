// Package disk reads disk images and writes them onto block devices. It takes raw and qcow2 images, and gz, zst and xz
// streams around raw ones. It makes one sequential pass over the bytes, in constant memory, and computes the checksum
// on the way. Images come from a web server, or from several with the same image; broken connections are resumed.
//
// Zeroes of an image are written to the target, because a disk may hold the last tenant's data. The first 64 KiB,
// where boot code and partition tables live, are written last, after the checksum was found right. So an interrupted
// or failed write leaves nothing that boots.
//
// Memory: 72 MiB of buffers at most for any image (budget.go), beside one or two for each decoder. 64 of them are for
// the format: the window of a zst stream, the dictionary of an xz stream (xz -9), or the map of a qcow2. The map takes
// 8 bytes per cluster (8 Mi clusters, 512 GiB of data in 64 KiB clusters), 16 per compressed cluster, 12 per cluster
// with only some subclusters in use. An image that needs more is refused, and so is a qcow2 on a server without Range:
// its tables, read last, would have the whole image wait in memory. Most images take 10 to 40 MiB, more with more
// CPUs.
//
// The blocks of an xz file are decompressed at once and written each at its place: four of them with dictionaries to 8
// MiB (xz -6), two to 16 MiB (xz -7), on as many CPUs; with larger ones, or in a file of one block (xz -T1), there is
// one at a time.
//
// The package knows nothing of partition tables, devices' ioctls, nodes or steps, and imports nothing of ours. It must
// never open files that an image names (backing files, external data): such images are refused.
package disk
