// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"compress/gzip"
	"errors"
	"reflect"
	"testing"
)

// Packs of before have scalars as lists of points; today's have columns.
func TestPackedScalarsAreReadFromPointsAndColumns(t *testing.T) {
	squeezed := func(scalars string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(`{"id":"0123456789abcdef","task":"vmas/balance","method":"mappo","complete":true,"scalars":` + scalars + `}`)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	want := map[string]Points{"kl": {{10, 0.5}, {20, 0.25}}}
	for _, scalars := range []string{`{"kl":[{"frames":10,"value":0.5},{"frames":20,"value":0.25}]}`, `{"kl":{"frames":[10,20],"values":[0.5,0.25]}}`} {
		r, err := Unpack(squeezed(scalars))
		if err != nil || !reflect.DeepEqual(r.Scalars, want) {
			t.Fatalf("%s is read as %v, %v", scalars, r, err)
		}
		data, err := Pack(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Unpack(data); err != nil || !reflect.DeepEqual(again.Scalars, want) {
			t.Errorf("packed again they are %v, %v, want %v", again, err, want)
		}
	}
	if _, err := Unpack(squeezed(`{"kl":{"frames":[10,20],"values":[0.5]}}`)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a value too few: %v", err)
	}
}
