// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
)

// Method is a named composition: a learner × an explorer × a policy model, each with its defaults.
type Method struct {
	ID      string // "mappo-cermic"
	About   string // one line
	Learner learn.Config
	Policy  policy.Config
	Explore explore.Config
	NumEnvs int // of the environment, where the method keeps the schedule of its authors; 0: budgets set both
}

// composes reports whether e is put together from the parts of m, whatever their settings.
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

// methods is the registration: one line a method. Those of the paper take their description from there. Of two methods that
// an experiment is equally near to, the first names it: retired ones stand before ucb, so that their records keep one name.
var methods = []Method{
	{ID: "qmix", Learner: learn.DefaultQ(), Policy: policy.DefaultMLP(), Explore: explore.None{}},
	{ID: "mappo", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.None{}},
	{ID: "mappo-eps", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.DefaultEpsilon()},
	{ID: "cpm", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultCPM(), Explore: explore.None{}},
	{ID: "mace", Learner: independent(learn.DefaultMAPPO()), Policy: policy.DefaultMLP(), Explore: explore.DefaultMACE()},
	{ID: "qmix-spectra", Learner: mixedBy(learn.DefaultSPECTra()), Policy: policy.DefaultSPECTra(), Explore: explore.None{}},
	{ID: "mappo-db", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.DefaultDB()},
	{ID: "qplex-ices", Learner: learn.DefaultQ().WithQPLEX(), Policy: policy.DefaultMLP(), Explore: explore.DefaultICES()},
	{ID: "qmix-cermic", Learner: learn.DefaultQ(), Policy: policy.DefaultMLP(), Explore: cermic.Default()},
	{ID: "mappo-cermic", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: cermic.Default()},
	{
		ID: "qplex", Learner: learn.DefaultQ().WithQPLEX(), Policy: policy.DefaultMLP(), Explore: explore.None{},
		About: "QPLEX alone: what qplex-ices has without its explorer",
	},
	{
		ID: "mappo-rff", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: explore.DefaultRFF(),
		About: "MAPPO with an elliptical count on random Fourier features of the observation, a control that learns no features",
	},
	{
		ID: "mace-native", Learner: standardised(independent(learn.DefaultMAPPO())), Policy: policy.DefaultMLP(), Explore: explore.NativeMACE(),
		About: "mace with the authors' own scale of the bonus, and advantages normalised as theirs",
	},
	{
		ID: "mappo-db-native", Learner: standardised(learn.DefaultMAPPO()), Policy: policy.DefaultMLP(), Explore: explore.NativeDB(),
		About: "mappo-db with the authors' own scale of the bonus, and advantages normalised as theirs",
	},
	{
		ID: "qmix-spectra-native", Learner: learn.DefaultQ().WithNativeSPECTra(), Policy: unmasked(policy.DefaultSPECTra()), Explore: explore.None{},
		NumEnvs: 8, About: "qmix-spectra trained as its authors do, on their schedule",
	},
	{
		ID: "mappo-cermic-literal", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: cermic.Literal(),
		About: "mappo-cermic with the module's settings closer to the paper's text",
	},
	{
		ID: "qmix-cermic-ucb", Learner: scoredAnew(learn.DefaultQ()), Policy: policy.DefaultMLP(), Explore: cermic.UCB(),
		About: "ours: qmix-cermic with the bonus of mappo-cermic-ucb",
	},
	{
		ID: "mappo-cermic-ucb", Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: cermic.UCB(),
		About: "ours: mappo-cermic with the bonus of Theorem 1 on the code, ½·log(1+ηᵀΛ⁻¹η), not the printed √KL",
	},
}

// mixedBy is the default value learner with another mixer.
func mixedBy(m learn.MixerConfig) learn.Q {
	c := learn.DefaultQ()
	c.Mixer = m
	return c
}

// unmasked lets agents attend to absent entities too.
func unmasked(c policy.SPECTra) policy.SPECTra {
	c.Mask = false
	return c
}

// scoredAnew gives old experience the intrinsic reward that it has now: in a replay of half the run, what it was when it was
// collected no longer says what is new.
func scoredAnew(c learn.Q) learn.Q {
	c.IntAt = learn.IntAtSample
	return c
}

// independent lets each agent's critic see no more than the agent does.
func independent(c learn.MAPPO) learn.MAPPO {
	c.Critic = learn.OwnCritic
	return c
}

// standardised normalises advantages, which lets the scale of a bonus cancel where nothing else is rewarded.
func standardised(c learn.MAPPO) learn.MAPPO {
	c.AdvantageNorm = true
	return c
}

// Methods are the registered methods: those of the paper in its order, then others as they are registered.
func Methods() []Method {
	out := make([]Method, 0, len(methods))
	for _, m := range paper.Methods {
		if i := slices.IndexFunc(methods, func(r Method) bool { return r.ID == m.ID }); i >= 0 {
			out = append(out, methods[i])
			out[len(out)-1].About = m.About
		}
	}
	for _, m := range methods {
		if m.About != "" {
			out = append(out, m)
		}
	}
	return out
}

// FindMethod accepts our name or the paper's, in any case.
func FindMethod(name string) (Method, error) {
	published, err := paper.FindMethod(name)
	id := published.ID
	if err != nil {
		id = name
	}
	var known []string
	for _, m := range Methods() {
		if m.ID == id {
			return m, nil
		}
		known = append(known, m.ID)
	}
	if err == nil {
		return Method{}, fmt.Errorf("method %s is in the paper but not in this program yet; it has: %s", id, strings.Join(known, ", "))
	}
	return Method{}, fmt.Errorf("unknown method %q%s", name, conf.Near(name, known))
}
