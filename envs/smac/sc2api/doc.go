// SPDX-License-Identifier: Apache-2.0

// Package sc2api holds the messages of StarCraft II's programming interface that envs/smac/sc2 exchanges with the game.
// Messages are generated from sc2.proto, with protoc-gen-go v1.36.12:
//
//	protoc --go_out=. --go_opt=paths=source_relative sc2.proto
package sc2api
