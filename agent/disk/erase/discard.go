package erase

import "context"

// discardChunk is what is discarded between two looks for an abort.
const discardChunk = 1 << 30

// canSecureDiscard: of the kernel's drivers that of eMMC and SD cards has it,
// and nothing tells beforehand which card.
func canSecureDiscard(f Facts, _ Options) verdict {
	if f.Disk.Transport != "mmc" {
		return lacks("only eMMC has it")
	}
	return verdict{}
}

func secureDiscard(ctx context.Context, j job) error {
	return j.inChunks(ctx, discardChunk, j.SecureDiscard)
}

// canDiscard: what a discarded block then reads as is the device's choice. If
// it promises zeroes they are wanted; if not, what counts is that what was
// there is gone.
func canDiscard(f Facts, _ Options) verdict {
	if !f.Discard {
		return lacks("the device has no discard")
	}
	return verdict{}
}

func discard(ctx context.Context, j job) error { return j.inChunks(ctx, discardChunk, j.Discard) }

func discardZeroes(f Facts, _ Options) bool { return f.zeroes() }
