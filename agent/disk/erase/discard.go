package erase

import "context"

// discardChunk is discarded between two checks for an abort.
const discardChunk = 1 << 30

// canSecureDiscard: the kernel's driver of eMMC and SD cards alone has it, and does
// not say beforehand for which card.
func canSecureDiscard(f Facts, _ Options) verdict {
	if f.Disk.Transport != "mmc" {
		return lacks("only eMMC has it")
	}
	return verdict{}
}

func secureDiscard(ctx context.Context, j job) error {
	return j.inChunks(ctx, discardChunk, j.SecureDiscard)
}

// canDiscard: the device chooses the content of a discarded block. If it promises
// zeroes they are required. If not, the old content must be gone.
func canDiscard(f Facts, _ Options) verdict {
	if !f.Discard {
		return lacks("the device has no discard")
	}
	return verdict{}
}

func discard(ctx context.Context, j job) error { return j.inChunks(ctx, discardChunk, j.Discard) }

func discardZeroes(f Facts, _ Options) bool { return f.zeroes() }
