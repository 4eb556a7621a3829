// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"testing"

	"cermic/cermiclib/libtest"
)

func TestMain(m *testing.M) { libtest.Main(m) }
