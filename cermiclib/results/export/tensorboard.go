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

// The fields of TensorFlow's protocol buffers Event, Summary and Summary.Value that a scalar needs.
const (
	eventWallTime    = 1
	eventStep        = 2
	eventFileVersion = 3
	eventSummary     = 5
	summaryValue     = 1
	valueTag         = 1
	valueSimple      = 2
)

// WriteTensorBoard writes a record as a TensorBoard event file: "eval/return" and, where the task has them,
// "eval/early_return" and "eval/success", the means of every evaluation, and every scalar under "train/", each at the number of frames
// trained. Groups that are trained apart have BenchMARL's names: "eval/agent/reward/episode_reward_mean", "collection/agent/reward/…",
// "train/agent/…". Wall times are 0, so that equal records give equal bytes. TensorBoard wants such files in a folder a run, named events.out.tfevents.<anything>.
func WriteTensorBoard(w io.Writer, r *results.Record) error {
	events := [][]byte{protowire.AppendString(protowire.AppendTag(wallTime(), eventFileVersion, protowire.BytesType), "brain.Event:2")}
	for _, e := range r.Evals {
		events = append(events, scalarEvent("eval/return", e.Frames, e.Score()))
		if len(e.Early) > 0 {
			events = append(events, scalarEvent("eval/early_return", e.Frames, mean(e.Early)))
		}
		if len(e.Success) > 0 {
			events = append(events, scalarEvent("eval/success", e.Frames, mean(e.Success)))
		}
		for _, name := range slices.Sorted(maps.Keys(e.Groups)) {
			events = append(events, scalarEvent("eval/"+name+"/reward/episode_reward_mean", e.Frames, e.Group(name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scalars)) {
		tag := "train/" + name
		if strings.HasPrefix(name, results.CollectionPrefix) {
			tag = name
		}
		for _, p := range r.Scalars[name] {
			events = append(events, scalarEvent(tag, p.Frames, p.Value))
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
	return protowire.AppendFixed64(protowire.AppendTag(nil, eventWallTime, protowire.Fixed64Type), math.Float64bits(0))
}

// scalarEvent encodes one number.
func scalarEvent(tag string, frames int, x float64) []byte {
	value := protowire.AppendString(protowire.AppendTag(nil, valueTag, protowire.BytesType), tag)
	value = protowire.AppendFixed32(protowire.AppendTag(value, valueSimple, protowire.Fixed32Type), math.Float32bits(float32(x)))
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

// maskedCRC is TensorFlow's form of CRC-32C, rotated so that checksums of checksums do no harm.
func maskedCRC(data []byte) uint32 {
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return bits.RotateLeft32(sum, 17) + 0xa282ead8
}

func mean(x []float64) float64 { return results.Eval{Scores: x}.Score() }
