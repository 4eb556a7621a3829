// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"strings"
	"testing"
)

func TestQualitySaysWhereObservationsHoldNothingAboutPeers(t *testing.T) {
	const verdict = "little or nothing about where its peers are"
	nan := math.NaN()
	for _, c := range []struct {
		q     Quality
		blind bool
		says  string
	}{
		{Quality{AUC: 0.97, Present: 0.07, RMSE: 0.2, Spread: 0.3}, false, "AUC 0.970"},
		{Quality{AUC: 0.55, Present: 0.07, RMSE: 0.3, Spread: 0.3}, true, "AUC 0.550"},
		{Quality{AUC: nan, RMSE: nan, Spread: nan}, false, "all labels are equal"},
		{Quality{AUC: nan, Present: 0.07, RMSE: 0.2, Spread: 0.3}, false, "RMSE 0.200"}, // no detector
		{Quality{AUC: nan, Present: 0.07, RMSE: 0.3, Spread: 0.3}, true, "RMSE 0.300"},
	} {
		if got := c.q.String(); strings.Contains(got, verdict) != c.blind || !strings.Contains(got, c.says) || strings.Contains(got, "NaN") {
			t.Errorf("%+v is described as:\n%s", c.q, got)
		}
	}
}
