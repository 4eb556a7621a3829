# SPDX-License-Identifier: Apache-2.0
"""Measures one figure of VMAS, BenchMARL or torch and prints it as a number.

    peers.py steps TASK COPIES        frames a second of a VMAS task, random actions, copies reset where they end
    peers.py train ALGORITHM ITERATIONS KEY=VALUE...
                                      frames a second of BenchMARL on Balance: collecting and updating, the first iteration left out
    peers.py update FRAMES STEPS      milliseconds of one minibatch of MAPPO in torch alone: the same networks, loss and Adam, no framework
"""

import sys
import time


def steps(task, copies):
    import torch
    import vmas

    env = vmas.make_env(scenario=task, num_envs=copies, device="cpu", continuous_actions=True, seed=0)
    env.reset()
    best = 0.0
    for threads in (1, 2):  # whichever is faster
        torch.set_num_threads(threads)
        actions = [[env.get_random_action(agent) for agent in env.agents] for _ in range(8)]
        for _ in range(4):
            start, done = time.perf_counter(), 0
            while time.perf_counter() - start < 0.5:
                _, _, ended, _ = env.step(actions[done % len(actions)])
                if bool(ended.any()):
                    for index in ended.nonzero().flatten().tolist():
                        env.reset_at(index)
                done += 1
            best = max(best, done * copies / (time.perf_counter() - start))
    return best


def train(algorithm, iterations, settings):
    import logging
    import tempfile

    import torch
    from benchmarl.algorithms import MappoConfig, QmixConfig
    from benchmarl.environments import VmasTask
    from benchmarl.experiment import Callback, Experiment, ExperimentConfig
    from benchmarl.models.mlp import MlpConfig

    class Clock(Callback):
        def __init__(self):
            super().__init__()
            self.at = []

        def on_train_end(self, training_td, group):
            self.at.append(time.perf_counter())

    Clock.__qualname__ = "Clock"
    globals()["Clock"] = Clock  # BenchMARL pickles its callbacks
    logging.disable(logging.WARNING)
    torch.set_num_threads(2)
    config = ExperimentConfig.get_from_yaml()
    config.sampling_device = config.train_device = config.buffer_device = "cpu"
    config.evaluation, config.loggers, config.create_json, config.checkpoint_at_end = False, [], False, False
    config.save_folder = tempfile.mkdtemp()
    for setting in settings:
        key, value = setting.split("=")
        if not hasattr(config, key):
            raise SystemExit(f"BenchMARL has no setting {key}")
        setattr(config, key, type(getattr(config, key))(float(value)))
    frames = config.on_policy_collected_frames_per_batch if algorithm == "mappo" else config.off_policy_collected_frames_per_batch
    config.max_n_iters, config.max_n_frames = iterations, None
    clock = Clock()
    experiment = Experiment(
        task=VmasTask.BALANCE.get_from_yaml(),
        algorithm_config={"mappo": MappoConfig, "qmix": QmixConfig}[algorithm].get_from_yaml(),
        model_config=mlp(MlpConfig, torch),
        critic_model_config=mlp(MlpConfig, torch),
        seed=0,
        config=config,
        callbacks=[clock],
    )
    stdout, sys.stdout = sys.stdout, sys.stderr
    experiment.run()
    sys.stdout = stdout
    return max(frames / (b - a) for a, b in zip(clock.at, clock.at[1:]))


def mlp(config, torch):
    made = config.get_from_yaml()
    made.num_cells, made.layer_class, made.activation_class = [256, 256], torch.nn.Linear, torch.nn.Tanh
    return made


def update(frames, rounds):
    """One step of the clipped objective and the critic's loss on Balance's shapes: 4 agents, 16 numbers observed, 2 forces."""
    import torch
    from torch import nn

    torch.set_num_threads(2)
    torch.manual_seed(0)
    agents, width, act = 4, OBS, 2

    def net(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, outputs))

    actor, critic = net(width, 2 * act), net(agents * width, 1)
    optimisers = [torch.optim.Adam(m.parameters(), lr=1e-4, eps=1e-6) for m in (actor, critic)]
    obs, raw = torch.randn(frames, agents, width), torch.randn(frames, agents, act)
    logp, advantage, target = torch.randn(frames, agents) - 3, torch.randn(frames, agents), torch.randn(frames, agents)
    biased = torch.tensor(1.0).expm1().log()

    def step():
        location, scale = actor(obs).chunk(2, -1)
        scale = nn.functional.softplus(scale + biased).clamp_min(1e-4)
        normal = torch.distributions.Normal(location, scale)
        squash = 2 * (0.6931471805599453 - raw - nn.functional.softplus(-2 * raw))
        change = (normal.log_prob(raw) - squash).sum(-1) - logp
        ratio = change.exp()
        objective = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        value = critic(obs.flatten(1))
        for module, optimiser, loss in ((actor, optimisers[0], -objective), (critic, optimisers[1], (value - target).square().mean())):
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 5)
            optimiser.step()

    for _ in range(5):
        step()
    took = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(rounds):
            step()
        took.append(1000 * (time.perf_counter() - start) / rounds)
    return sorted(took)[len(took) // 2]


OBS = 16  # numbers that an agent of Balance observes

if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "steps":
        print(steps(rest[0], int(rest[1])))
    elif verb == "train":
        print(train(rest[0], int(rest[1]), rest[2:]))
    elif verb == "update":
        print(update(int(rest[0]), int(rest[1])))
    else:
        raise SystemExit(f"unknown figure {verb}")
