package site

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the pictures of the documentation in few colours")

// TestPictures: a picture has 256 colours at most, since the program carries it. With -update others are written anew,
// in their most frequent colours: a screen has a thousand, nearly all of them at the edges of letters.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("../images/*/*.png")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if _, few := picture.(*image.Paletted); few {
			continue
		}
		if !*update {
			t.Errorf("%s has more than 256 colours: go test ./docs/site -run Pictures -update", file)
			continue
		}
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, fewColours(picture)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fewColours has each pixel in the nearest of the picture's 256 most frequent colours.
func fewColours(from image.Image) *image.Paletted {
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA {
		r, g, b, _ := from.At(x, y).RGBA()
		return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255} //nolint:gosec // 16 bits to their upper 8
	}
	box := from.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	var colours color.Palette
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int { return count[b.(color.RGBA)] - count[a.(color.RGBA)] })
	colours = colours[:min(256, len(colours))]
	to := image.NewPaletted(box, colours)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			to.Set(x, y, at(x, y))
		}
	}
	return to
}
