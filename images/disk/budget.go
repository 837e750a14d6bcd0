package disk

// budget limits the memory of a write in bytes: the needs of its format (a window, a
// dictionary or a map: at most largestNeed) and the chunks in flight.
const (
	budget      = 72 << 20
	largestNeed = 64 << 20
)

// streamLeast is the memory that every compressed stream may need, in bytes: a window
// of zstd -19, a dictionary of xz -6. A stream that starts with less may go on with
// it.
const streamLeast = 8 << 20

// packedChunks are for a compressed stream's input, beside those for its output.
const packedChunks = 4

const (
	mostWorkers = 8       // more do not make a disk faster
	workerShare = 4 << 20 // of the budget, that must be free for each beyond the second
)

// share divides the rest of the budget after need. Each worker gets a decompression buffer of that many bytes. Chunks
// are two for every worker, and some to level out a decompressor's and a disk's pace.
func share(need, buffer int64, cpus int) (workers, chunks int) {
	left := budget - need
	workers = max(2, min(cpus, mostWorkers, int(left/workerShare)))
	chunks = min(6+2*workers, int((left-int64(workers)*buffer)/chunkSize))
	return workers, chunks
}

// spread says how many runs of an xz file are decompressed at once, when each takes
// need bytes, and how many chunks of input there are to be. The next one has work
// only when the input of those before it is in memory: about need bytes each, since
// xz -T makes blocks of three dictionaries and an image is packed to a third or less.
// Of less input in memory fewer are at work; none waits for ever.
func spread(need int64, cpus int) (decoders, packed int) {
	const others = 2 * packedChunks * chunkSize
	decoders = max(1, min(cpus, mostWorkers, int((budget-others+need)/(2*need))))
	return decoders, packedChunks + (decoders-1)*int(need/chunkSize)
}
