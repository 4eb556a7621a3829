// SPDX-License-Identifier: Apache-2.0

package paper

// Hyper holds Table 6, the paper's hyper-parameters.
//
// paper:tab:core_hyperparameters
var Hyper = data.Hyper

// hyperparameters are the rows of Table 6 under its headings. A frame is one step of one environment, by all
// its agents.
type hyperparameters struct {
	General struct {
		Discount     float64 `json:"discount_gamma"`
		LearningRate float64 `json:"learning_rate_adam"`
		AdamEps      float64 `json:"adam_eps"`
	}
	TargetUpdates struct { // off-policy learners only: PPO has no target network
		Polyak float64 `json:"polyak_tau"`
	} `json:"target_updates"`
	Exploration struct {
		EpsInit float64 `json:"eps_init"`
		EpsEnd  float64 `json:"eps_end"`
	}
	Duration struct {
		MaxFrames int `json:"max_frames"`
	}
	OnPolicy struct {
		Frames    int `json:"collected_frames_per_batch"`
		NumEnvs   int `json:"envs_per_worker"`
		Epochs    int `json:"minibatch_iterations"`
		Minibatch int `json:"minibatch_size"` // frames
	} `json:"on_policy"`
	OffPolicy struct {
		Steps      int `json:"optimizer_steps_per_collection"`
		TrainBatch int `json:"train_batch_size"`   // frames
		Replay     int `json:"replay_buffer_size"` // frames
	} `json:"off_policy"`
}

// MemorySize is one column of Table 5. A nil size is printed as a dash.
type MemorySize struct {
	Node       *int   `json:"node_embedding_dim"`
	Edge       *int   `json:"edge_embedding_dim"`
	Encoder    *int   `json:"obs_encoder_output_dim"`
	Output     *int   `json:"memory_output_dim"`
	Conv       *int   `json:"obs_encoder_conv_layers"`
	GNNLayers  *int   `json:"gnn_layers"`
	GNNHidden  *int   `json:"gnn_hidden_dim"`
	GNNHeads   *int   `json:"gnn_heads"`
	MLPLayers  *int   `json:"mlp_hidden_layers"`
	MLPUnits   *int   `json:"mlp_hidden_units"`
	GRULayers  *int   `json:"gru_layers"`
	Parameters string `json:"estimated_total_parameters"` // "High", "Medium" or "Low": no number is printed
}

// Memories holds Table 5 by kind of memory: "graph", "mlp" and "gru".
//
// paper:tab:memory_params_final
var Memories = data.Memory.Modules
