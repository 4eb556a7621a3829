// SPDX-License-Identifier: Apache-2.0

package cermiclib

import (
	"fmt"
	"slices"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/envs/conf"
)

// Method is a named composition: a learner × an explorer × a policy model, each with its defaults.
type Method struct {
	ID      string // "mappo-cermic"
	About   string // one line
	Learner learn.Config
	Policy  policy.Config
	Explore explore.Config
}

// composes reports whether e has the parts of m; their settings may differ.
func (m Method) composes(e experiment.Config) bool {
	return m.Learner.Kind() == e.Learner.Kind() && Mixer(m.Learner) == Mixer(e.Learner) &&
		m.Policy.Kind() == e.Policy.Kind() && m.Explore.Kind() == e.Explore.Kind()
}

// Mixer is the kind of a value learner's mixer, empty for other learners.
func Mixer(l learn.Config) string {
	if q, ok := l.(learn.Q); ok && q.Mixer != nil {
		return q.Mixer.Kind()
	}
	return ""
}

// methods are the registered methods: the paper's in its order, then others.
var methods = []Method{
	{
		ID: "qmix", About: "value learner with a monotonic mixer; ε-greedy",
		Learner: learn.DefaultQ(), Policy: policy.DefaultMLP(), Explore: explore.None{},
	},
	{
		ID: "mappo", About: "clipped policy gradient with one central critic; explores by its own noise",
		Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.None{},
	},
	{
		ID: "mappo-eps", About: "MAPPO that takes a uniform action with probability ε",
		Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.DefaultEpsilon(),
	},
	{
		ID: "cpm", About: "MAPPO whose policy first predicts what its peers will do",
		Learner: learn.DefaultMAPPO(), Policy: policy.DefaultCPM(), Explore: explore.None{},
	},
	{
		ID: "qmix-spectra", About: "QMIX with attention over entities in policy and mixer",
		Learner: with(learn.DefaultQ(), func(c *learn.Q) { c.Mixer = learn.DefaultSPECTra() }),
		Policy:  policy.DefaultSPECTra(), Explore: explore.None{},
	},
	{
		ID: "mappo-db", About: "MAPPO with the dynamic-bottleneck bonus: curiosity without context",
		Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.DefaultDB(),
	},
	{
		ID: "mace", About: "independent PPO rewarded for its own novelty, its peers' and its influence on them",
		Learner: with(learn.DefaultMAPPO(), independent), Policy: policy.DefaultMLP(), Explore: explore.DefaultMACE(),
	},
	{
		ID: "qplex-ices", About: "QPLEX with an exploration policy rewarded for individual contributions",
		Learner: learn.DefaultQ().WithQPLEX(), Policy: policy.DefaultMLP(), Explore: explore.DefaultICES(),
	},
	{
		ID: "qmix-cermic", About: "QMIX with CERMIC",
		Learner: learn.DefaultQ(), Policy: policy.DefaultMLP(), Explore: cermic.Default(),
	},
	{
		ID: "mappo-cermic", About: "MAPPO with CERMIC",
		Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: cermic.Default(),
	},
	{
		ID: "qplex", Learner: learn.DefaultQ().WithQPLEX(), Policy: policy.DefaultMLP(), Explore: explore.None{},
		About: "QPLEX alone: what qplex-ices has without its explorer",
	},
	{
		ID: "mappo-rff", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.DefaultRFF(),
		About: "MAPPO with an elliptical count on random Fourier features of the observation, " +
			"a control that learns no features",
	},
	{
		ID: "mappo-cermic-literal", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: cermic.Literal(),
		About: "mappo-cermic with the module's settings closer to the paper's text",
	},
	{
		ID: "qmix-cermic-ucb", Learner: learn.DefaultQ(), Policy: policy.DefaultMLP(), Explore: cermic.UCB(),
		About: "ours: qmix-cermic with the bonus of mappo-cermic-ucb",
	},
	{
		ID: "mappo-cermic-ucb", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: cermic.UCB(),
		About: "ours: mappo-cermic with the information gain of Theorem 1 on the code, ½·log(1+ηᵀΛ⁻¹η), not the printed √KL",
	},
}

func with[C any](c C, change func(*C)) C {
	change(&c)
	return c
}

// independent gives each agent's critic the agent's own observation only.
func independent(c *learn.MAPPO) { c.Critic = learn.OwnCritic }

// Methods returns the registered methods: the paper's in its order, then others.
func Methods() []Method { return slices.Clone(methods) }

// FindMethod returns the method with an ID.
func FindMethod(id string) (Method, error) {
	return conf.Find("method", id, methods, func(m Method) string { return m.ID })
}

// Register registers a method under its ID. It panics if the ID is taken or About is empty, which are programming
// errors found at start-up.
func Register(m Method) {
	if m.About == "" || slices.ContainsFunc(methods, func(known Method) bool { return known.ID == m.ID }) {
		panic(fmt.Sprintf("cermiclib: method %q is registered twice, or has no About", m.ID))
	}
	methods = append(methods, m)
}
