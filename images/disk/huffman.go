package disk

import "math/bits"

// The meaning of a symbol is one word, so that a decoder looks it up once: from the lowest
// bit, the number of bits its code has (0: no such code), three flags, the number of extra
// bits that follow the code, and a value.
const (
	usedBits   = 15
	isLiteral  = 1 << 4
	isEnd      = 1 << 5
	isTable    = 1 << 6 // the code is longer than the first table: the value is where its rest is
	extraShift = 8
	extraBits  = 15
	valueShift = 16
)

const (
	firstBits = 10 // of a code, looked up in the first table
	codeMax   = 15 // bits of the longest code
	restBits  = codeMax - firstBits
)

// noSymbol is the meaning of symbols that have a code but must not occur.
const noSymbol = 1<<32 - 1

// huffman finds symbols by the bits ahead: in a first table, and for longer
// codes in another of restBits behind it.
type huffman struct {
	first [1 << firstBits]uint32
	rest  []uint32
}

// find returns the symbol of the next code in ahead.
func (h *huffman) find(ahead uint64) uint32 {
	e := h.first[ahead&(1<<firstBits-1)]
	if e&isTable != 0 {
		e = h.rest[uint64(e>>valueShift)+ahead>>firstBits&(1<<restBits-1)]
	}
	return e
}

// build makes the tables of the canonical code (RFC 1951, section 3.2.2) with the given lengths, by symbol. Codes must
// be complete, except the empty code and the single one-bit symbol, which leaves bits unused (section 3.2.7).
func (h *huffman) build(lengths []uint8, meaning func(symbol int) uint32) error {
	var count, next [codeMax + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	code, longest := 0, 0
	for n := 1; n <= codeMax; n++ {
		code = (code + count[n-1]) << 1
		next[n] = code
		if count[n] > 0 {
			longest = n
		}
		if code+count[n] > 1<<n {
			return errDeflate
		}
	}
	if left := next[codeMax] + count[codeMax]; left != 1<<codeMax && longest > 0 && (longest != 1 || count[1] != 1) {
		return errDeflate
	}
	clear(h.first[:])
	h.rest = h.rest[:0]
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		if word := meaning(symbol); word != noSymbol {
			h.enter(reversed, int(n), word|uint32(n))
		}
	}
	return nil
}

// enter puts a word wherever the code's bits can be followed by others.
func (h *huffman) enter(code, n int, word uint32) {
	if n <= firstBits {
		for i := code; i < 1<<firstBits; i += 1 << n {
			h.first[i] = word
		}
		return
	}
	e := &h.first[code&(1<<firstBits-1)]
	if *e == 0 {
		*e = uint32(len(h.rest))<<valueShift | isTable
		h.rest = append(h.rest, make([]uint32, 1<<restBits)...)
	}
	rest := h.rest[*e>>valueShift:][:1<<restBits]
	for i := code >> firstBits; i < len(rest); i += 1 << (n - firstBits) {
		rest[i] = word
	}
}

// plainSymbol means itself.
func plainSymbol(symbol int) uint32 { return uint32(symbol) << valueShift }

// literalSymbol is a byte, the end of a block, or a length (section 3.2.5).
func literalSymbol(symbol int) uint32 {
	switch {
	case symbol < 256:
		return uint32(symbol)<<valueShift | isLiteral
	case symbol == 256:
		return isEnd
	case symbol < 265:
		return uint32(symbol-254) << valueShift
	case symbol < 285:
		extra := uint32(symbol-261) / 4
		return (3+(4+uint32(symbol-261)%4)<<extra)<<valueShift | extra<<extraShift
	case symbol == 285:
		return 258 << valueShift
	}
	return noSymbol // 286 and 287
}

// distanceSymbol is the distance to copy from.
func distanceSymbol(symbol int) uint32 {
	switch {
	case symbol < 4:
		return uint32(symbol+1) << valueShift
	case symbol < 30:
		extra := uint32(symbol)/2 - 1
		return (1+(2+uint32(symbol)%2)<<extra)<<valueShift | extra<<extraShift
	}
	return noSymbol // 30 and 31
}
