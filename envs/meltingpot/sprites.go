// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"cermic/envs"
)

// spriteFile holds the sprites of all substrates; testdata/golden/README.md describes it.
//
// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates and meltingpot/utils/substrates/shapes.py
//
//go:embed sprites.json.gz
var spriteFile []byte

// spriteBytes is the length of a sprite, with its alpha channel, for one direction.
const spriteBytes = envs.CellPixels * envs.CellPixels * 4

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
	for name, s := range sheet.Substrates {
		for key, one := range s.Sprites {
			for _, picture := range one {
				if len(picture) != spriteBytes {
					return nil, fmt.Errorf("sprite %s of %s has %d bytes, want %d", key, name, len(picture), spriteBytes)
				}
			}
		}
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
