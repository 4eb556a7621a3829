// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"errors"
	"testing"

	"cermic/envs"
)

// lost is an environment that cannot start an episode.
type lost struct{ envs.Env }

var errLost = errors.New("no game")

func (lost) Err() error       { return errLost }
func (lost) Aborted(int) bool { return false }
func (lost) Close()           {}

// What such an environment shows means nothing: a mask of nothing allowed would be drawn from for ever.
func TestPlayEndsWhereNoEpisodeCanBeStarted(t *testing.T) {
	if _, err := playRandomly(lost{newScatter(false)}, 40, 1); !errors.Is(err, errLost) {
		t.Errorf("error %v, want %v", err, errLost)
	}
}
