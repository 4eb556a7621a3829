// SPDX-License-Identifier: Apache-2.0

package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"math/bits"
	"os"
	"path/filepath"
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

// encodeRun encodes a record as a TensorBoard event file, indexed by trained frames. It has means of every evaluation:
// "eval/return" and, if the task has them, "eval/early_return" and "eval/success". Every scalar is under "train/".
// Groups of agents have BenchMARL's names: "eval/agent/reward/episode_reward_mean", "collection/agent/reward/…",
// "train/agent/…". Wall times are 0, so that equal records give equal bytes. TensorBoard expects one folder a run, with
// a file named events.out.tfevents.<anything>.
func encodeRun(r *results.Record) []byte {
	version := protowire.AppendTag(wallTime(), eventFileVersion, protowire.BytesType)
	data := appendEvent(nil, protowire.AppendString(version, "brain.Event:2"))
	for _, e := range r.Evals {
		data = appendEval(data, e)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scalars)) {
		for _, p := range r.Scalars[name] {
			data = appendScalar(data, scalarTag(name), p.Frames, p.Value)
		}
	}
	return data
}

func appendEval(data []byte, e results.Eval) []byte {
	data = appendScalar(data, "eval/return", e.Frames, e.Score())
	if len(e.Early) > 0 {
		data = appendScalar(data, "eval/early_return", e.Frames, results.Eval{Scores: e.Early}.Score())
	}
	if len(e.Success) > 0 {
		data = appendScalar(data, "eval/success", e.Frames, results.Eval{Scores: e.Success}.Score())
	}
	for _, name := range slices.Sorted(maps.Keys(e.Groups)) {
		data = appendScalar(data, "eval/"+name+"/reward/episode_reward_mean", e.Frames, e.Group(name))
	}
	return data
}

func scalarTag(name string) string {
	if strings.HasPrefix(name, results.CollectionPrefix) {
		return name
	}
	return "train/" + name
}

// tensorBoardFile is where a run's event file stands below a folder of runs:
// <task>/<method>/seed_<n>/events.out.tfevents.0.<ID>.
func tensorBoardFile(r *results.Record) string {
	method, seed := strings.ReplaceAll(r.Method, "/", "_"), fmt.Sprintf("seed_%d", r.Seed)
	return filepath.Join(filepath.FromSlash(r.Task), method, seed, "events.out.tfevents.0."+r.ID)
}

// Live writes an event file for every run below a folder while it trains, at the path of tensorBoardFile. A resumed
// run's file begins with its earlier training.
type Live struct {
	folder string
	files  map[string]*os.File // by the run's ID
	err    error
}

// NewLive returns a writer of event files below folder.
func NewLive(folder string) *Live { return &Live{folder: folder, files: map[string]*os.File{}} }

// Watch writes an event of a run. Events of several runs may come in any order, one at a time.
func (l *Live) Watch(e results.Event) {
	if l.err == nil && e.Record != nil && e.Failed == "" {
		l.err = l.write(e)
	}
}

func (l *Live) write(e results.Event) error {
	var data []byte
	f := l.files[e.Record.ID]
	if f == nil {
		path := filepath.Join(l.folder, tensorBoardFile(e.Record))
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			f, err = os.Create(path)
		}
		if err != nil {
			return err
		}
		l.files[e.Record.ID] = f
		data = encodeRun(e.Record)
	} else {
		if e.Eval != nil {
			data = appendEval(data, *e.Eval)
		}
		for _, name := range slices.Sorted(maps.Keys(e.Scalars)) {
			data = appendScalar(data, scalarTag(name), e.Frames, e.Scalars[name])
		}
	}
	_, err := f.Write(data)
	return err
}

// Close closes the files and returns the first error of a run's events.
func (l *Live) Close() error {
	err := l.err
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// wallTime begins an event. The field is required.
func wallTime() []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, eventWallTime, protowire.Fixed64Type), 0)
}

func appendScalar(data []byte, tag string, frames int, number float64) []byte {
	value := protowire.AppendString(protowire.AppendTag(nil, valueTag, protowire.BytesType), tag)
	value = protowire.AppendTag(value, valueSimple, protowire.Fixed32Type)
	value = protowire.AppendFixed32(value, math.Float32bits(float32(number)))
	summary := protowire.AppendBytes(protowire.AppendTag(nil, summaryValue, protowire.BytesType), value)
	event := protowire.AppendVarint(protowire.AppendTag(wallTime(), eventStep, protowire.VarintType), uint64(frames))
	return appendEvent(data, protowire.AppendBytes(protowire.AppendTag(event, eventSummary, protowire.BytesType), summary))
}

// appendEvent frames an event as TensorFlow does: length, checksum of the length, event, checksum of the event.
func appendEvent(data, event []byte) []byte {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	data = binary.LittleEndian.AppendUint32(append(data, length...), maskedCRC(length))
	return binary.LittleEndian.AppendUint32(append(data, event...), maskedCRC(event))
}

// maskedCRC is TensorFlow's variant of CRC-32C, rotated so that a checksum of a checksum stays random.
func maskedCRC(data []byte) uint32 {
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return bits.RotateLeft32(sum, 17) + 0xa282ead8
}
