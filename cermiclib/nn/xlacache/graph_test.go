// SPDX-License-Identifier: Apache-2.0

package xlacache

import "testing"

// A batch of four products [100,300]ᵀ·[100,256] and a sum over their rows.
const program = `module @kept_x_1 {
  func.func @main(%arg0: tensor<400x300xf32>, %arg1: tensor<400x256xf32>) -> tensor<4x256xf32> {
    %0 = "stablehlo.reshape"(%arg0) : (tensor<400x300xf32>) -> tensor<4x100x300xf32>
    %1 = "stablehlo.reshape"(%arg1) : (tensor<400x256xf32>) -> tensor<4x100x256xf32>
    %2 = "stablehlo.dot_general"(%0, %1) {
      dot_dimension_numbers = #stablehlo.dot<
  lhs_batching_dimensions = [0],
  rhs_batching_dimensions = [0],
  lhs_contracting_dimensions = [1],
  rhs_contracting_dimensions = [1]
>,
      precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
    } : (tensor<4x100x300xf32>, tensor<4x100x256xf32>) -> tensor<4x300x256xf32>
    %4 = "stablehlo.constant"() { value = dense<0.0> : tensor<f32> } : () -> tensor<f32>
    %5 = "stablehlo.reduce"(%2, %4) ({
      ^reductionFn(%lhs: tensor<f32>, %rhs: tensor<f32>) :
          %3 = "stablehlo.add"(%lhs, %rhs) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) { dimensions = array<i64: 1> } : (tensor<4x300x256xf32>, tensor<f32>) -> tensor<4x256xf32>
    "stablehlo.return"(%5) : (tensor<4x256xf32>) -> ()
  }
}`

func TestGraphIsDescribedByItsText(t *testing.T) {
	got := describe([]byte(program))
	want := Graph{Name: "kept_x_1", Instructions: 6, Products: 1, Sums: 1, Flops: 2 * 4 * 300 * 256 * 100, Bytes: 4 * (4*100*300 + 4*100*256 + 4*300*256)}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := describe([]byte("ML\xefR bytecode")); got != (Graph{}) {
		t.Errorf("of what is no text %+v is read", got)
	}
}
