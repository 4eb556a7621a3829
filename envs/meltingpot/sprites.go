// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"sync"
)

// spriteFile holds the sprites of all substrates; testdata/golden/README.md describes it.
//
// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates and meltingpot/utils/substrates/shapes.py
//
//go:embed sprites.json.gz
var spriteFile []byte

// sprite is a picture [8,8,4] in RGBA for each direction relative to the viewer.
type sprite [4][]byte

// spriteSheet is the content of a sprite file.
type spriteSheet struct {
	Substrates map[string]struct {
		Sprites map[string]sprite
	}
}

func readSprites(file []byte) (*spriteSheet, error) {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	var sheet spriteSheet
	if err := json.NewDecoder(z).Decode(&sheet); err != nil {
		return nil, err
	}
	return &sheet, nil
}

// sprites returns the embedded sprites.
var sprites = sync.OnceValue(func() *spriteSheet {
	sheet, err := readSprites(spriteFile)
	if err != nil {
		panic("meltingpot: the embedded sprites: " + err.Error())
	}
	return sheet
})
