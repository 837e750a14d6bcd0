package erase

import "context"

// canZeroOut: by WRITE SAME, Write Zeroes or the like. Where the kernel would
// have to write the zeroes itself, overwriting does better.
func canZeroOut(f Facts, _ Options) verdict {
	if !f.WriteZeros {
		return lacks("the device has no command that writes zeroes")
	}
	return verdict{}
}

func zeroOut(ctx context.Context, j job) error {
	const chunk = 256 << 20 // the device may take its time
	return j.inChunks(ctx, chunk, j.ZeroOut)
}
