// SPDX-License-Identifier: Apache-2.0

package export

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"cermic/cermiclib/results"
)

// Fields of TensorFlow's protocol buffers Event, Summary and Summary.Value that a scalar needs.
const (
	eventWallTime    = 1
	eventStep        = 2
	eventFileVersion = 3
	eventSummary     = 5
	summaryValue     = 1
	valueTag         = 1
	valueSimple      = 2
)

// WriteTensorBoard writes a record as a TensorBoard event file, indexed by trained frames: means of every evaluation,
// "eval/return" and, if the task has them, "eval/early_return" and "eval/success", and every scalar under "train/".
// Groups of agents have BenchMARL's names: "eval/agent/reward/episode_reward_mean", "collection/agent/reward/…",
// "train/agent/…". Wall times are 0, so that equal records give equal bytes. TensorBoard expects one folder a run, with
// a file named events.out.tfevents.<anything>.
func WriteTensorBoard(w io.Writer, r *results.Record) error {
	version := protowire.AppendTag(wallTime(), eventFileVersion, protowire.BytesType)
	events := [][]byte{protowire.AppendString(version, "brain.Event:2")}
	add := func(tag string, frames int, x float64) { events = append(events, scalarEvent(tag, frames, x)) }
	for _, e := range r.Evals {
		add("eval/return", e.Frames, e.Score())
		if len(e.Early) > 0 {
			add("eval/early_return", e.Frames, results.Eval{Scores: e.Early}.Score())
		}
		if len(e.Success) > 0 {
			add("eval/success", e.Frames, results.Eval{Scores: e.Success}.Score())
		}
		for _, name := range slices.Sorted(maps.Keys(e.Groups)) {
			add("eval/"+name+"/reward/episode_reward_mean", e.Frames, e.Group(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scalars)) {
		tag := "train/" + name
		if strings.HasPrefix(name, results.CollectionPrefix) {
			tag = name
		}
		for _, p := range r.Scalars[name] {
			add(tag, p.Frames, p.Value)
		}
	}
	for _, event := range events {
		if err := writeTFRecord(w, event); err != nil {
			return fmt.Errorf("an event file: %w", err)
		}
	}
	return nil
}

// wallTime begins an event. The field is required.
func wallTime() []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, eventWallTime, protowire.Fixed64Type), 0)
}

// scalarEvent encodes one number.
func scalarEvent(tag string, frames int, x float64) []byte {
	value := protowire.AppendString(protowire.AppendTag(nil, valueTag, protowire.BytesType), tag)
	value = protowire.AppendTag(value, valueSimple, protowire.Fixed32Type)
	value = protowire.AppendFixed32(value, math.Float32bits(float32(x)))
	summary := protowire.AppendBytes(protowire.AppendTag(nil, summaryValue, protowire.BytesType), value)
	event := protowire.AppendVarint(protowire.AppendTag(wallTime(), eventStep, protowire.VarintType), uint64(frames))
	return protowire.AppendBytes(protowire.AppendTag(event, eventSummary, protowire.BytesType), summary)
}

// writeTFRecord frames data as TensorFlow does: length, checksum of the length, data, checksum of the data.
func writeTFRecord(w io.Writer, data []byte) error {
	frame := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	frame = binary.LittleEndian.AppendUint32(frame, maskedCRC(frame))
	frame = append(frame, data...)
	frame = binary.LittleEndian.AppendUint32(frame, maskedCRC(data))
	_, err := w.Write(frame)
	return err
}

// maskedCRC is TensorFlow's variant of CRC-32C, rotated so that a checksum of a checksum stays random.
func maskedCRC(data []byte) uint32 {
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return bits.RotateLeft32(sum, 17) + 0xa282ead8
}
