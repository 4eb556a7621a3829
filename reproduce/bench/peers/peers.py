# SPDX-License-Identifier: Apache-2.0
"""Measures one figure of VMAS, BenchMARL, torch or jax and prints it as a number.

    peers.py steps TASK COPIES        frames a second of a VMAS task, random actions, copies reset where they end
    peers.py python TASK COPIES [pixels]
                                      frames a second of cermic_envs, in the same way
    peers.py substrate NAME           steps a second of a substrate of Melting Pot, random actions
    peers.py train ALGORITHM ITERATIONS KEY=VALUE...
                                      frames a second of BenchMARL on Balance: collecting and updating, the first iteration left out
    peers.py collect SIDE             frames a second of BenchMARL's collection alone, one thread, on Balance of VMAS or of cermic_envs
    peers.py learn SIDE FOLDER FILE   whole runs of BenchMARL's MAPPO on Balance, dense reward: returns of each evaluation
    peers.py update FRAMES STEPS      milliseconds of one minibatch of MAPPO in torch alone: the same networks, loss and Adam, no framework
                                      update-compiled: the same under torch.compile; update-jax: in jax, as one compiled loop
    peers.py train-jax ITERATIONS FRAMES COPIES EPOCHS MINIBATCH
                                      frames a second of MAPPO in jax on JaxMARL's Simple Adversary, the first iteration left out
    peers.py install-meltingpot       installs Melting Pot's source, unless it is there
"""

import gzip
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
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
            while time.perf_counter() - start < 0.25:
                _, _, ended, _ = env.step(actions[done % len(actions)])
                if bool(ended.any()):
                    for index in ended.nonzero().flatten().tolist():
                        env.reset_at(index)
                done += 1
            best = max(best, done * copies / (time.perf_counter() - start))
    return best


def ours(task, copies, pixels):
    import cermic_envs
    import numpy as np

    env = cermic_envs.make(task, copies, reward="dense", pixels=pixels)
    rng = np.random.default_rng(0)
    env.reset()
    actions = [env.sample(rng) for _ in range(8)]
    best = 0.0
    for _ in range(4):
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < 0.25:
            step = env.step(actions[done % len(actions)])
            ended = step.terminated | step.truncated
            if ended.any():
                env.reset(ended)
            done += 1
        best = max(best, done * copies / (time.perf_counter() - start))
    return best


def lab2d(name):
    from unittest import mock

    sys.modules["tensorflow"] = mock.MagicMock()  # of trained bots, which have no part in this
    from meltingpot import substrate
    import numpy as np

    roles = substrate.get_config(name).default_player_roles
    env = substrate.build(name, roles=roles)
    env.reset()
    actions = np.random.default_rng(0).integers(0, env.action_spec()[0].num_values, (997, len(roles))).tolist()
    best = 0.0
    for _ in range(4):
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < 0.5:
            if env.step(actions[done % len(actions)]).last():
                env.reset()
            done += 1
        best = max(best, done / (time.perf_counter() - start))
    return best


def train(algorithm, iterations, settings):
    at, frames = [], {}

    def built(config):
        for setting in settings:
            key, value = setting.split("=")
            if not hasattr(config, key):
                raise SystemExit(f"BenchMARL has no setting {key}")
            setattr(config, key, type(getattr(config, key))(float(value)))
        config.evaluation, config.max_n_iters, config.max_n_frames = False, iterations, None
        frames["a batch"] = config.on_policy_collected_frames_per_batch if algorithm == "mappo" else config.off_policy_collected_frames_per_batch

    benchmarl(algorithm, "vmas", 0, 2, built, on_train_end=lambda *_: at.append(time.perf_counter()))
    return max(frames["a batch"] / (b - a) for a, b in zip(at, at[1:]))


def collect(side):
    """Between the end of an update and the next batch; the update is one minibatch, and the first two collections warm up."""
    spans, began = [], [time.perf_counter()]

    def built(config):
        learning(config)
        config.on_policy_n_minibatch_iters, config.on_policy_minibatch_size = 1, 6000
        config.evaluation, config.max_n_iters, config.max_n_frames = False, 6, None

    benchmarl("mappo", side, 0, 1, built, on_batch_collected=lambda *_: spans.append(time.perf_counter() - began[0]),
              on_train_end=lambda *_: began.__setitem__(0, time.perf_counter()))  # fmt: skip
    return 6000 / min(spans[2:])


def learn(side, folder, file):
    """Trains the seeds that folder lacks, writes the curves of all into file, and prints the mean processor seconds of a run's parts."""
    os.makedirs(folder, exist_ok=True)
    runs = []
    for seed in (1, 2, 3):
        kept = os.path.join(folder, f"mappo-balance-{side}-{seed}.json")
        if not os.path.exists(kept):
            run = learned(side, seed)
            with open(kept + ".new", "w") as out:
                json.dump(run, out)
            os.replace(kept + ".new", kept)
        with open(kept) as text:
            runs.append(json.load(text))
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with gzip.open(file, "wt") as out:
        json.dump({"schema": "benchmarl-curves/1", "algorithm": "mappo", "task": "balance", "reward": "dense", "runs": runs}, out)
    for part in ("collection", "training", "evaluation"):
        print(f"{side}: {part}, {sum(run['processor_seconds'][part] for run in runs) / len(runs):.3g} processor seconds a run")


def learned(side, seed):
    """One run, with the settings of the recorded BenchMARL curves. Processor seconds are of all threads: other programs do not change them."""
    evals, parts, last, frames = [], {"collection": 0.0, "training": 0.0, "evaluation": 0.0}, [time.process_time()], [0]

    def ended(part):
        now = time.process_time()
        parts[part] += now - last[0]
        last[0] = now

    def collected(batch):
        ended("collection")
        frames[0] += batch.numel()

    def evaluated(rollouts):
        ended("evaluation")
        returns = []
        for rollout in rollouts:
            done = rollout["next", "done"].flatten().nonzero()
            reward = rollout["next", "agents", "reward"][..., 0].mean(-1)
            returns.append(round(float(reward[: int(done[0]) + 1 if len(done) else None].sum()), 4))
        evals.append({"frames": frames[0], "returns": returns})
        print(f"{side}, seed {seed}: {sum(returns) / len(returns):.2f} after {frames[0]} frames", file=sys.stderr, flush=True)

    started = time.perf_counter()
    benchmarl("mappo", side, seed, 1, learning, on_batch_collected=collected,
              on_train_end=lambda *_: ended("training"), on_evaluation_end=evaluated)  # fmt: skip
    return {"seed": seed, "evals": evals, "seconds_one_thread": round(time.perf_counter() - started, 1),
            "processor_seconds": {k: round(v, 2) for k, v in parts.items()}}  # fmt: skip


def learning(config):
    config.lr, config.gamma, config.max_n_frames = 3e-4, 0.99, 600_000
    config.on_policy_collected_frames_per_batch, config.on_policy_n_envs_per_worker = 6000, 60
    config.on_policy_n_minibatch_iters, config.on_policy_minibatch_size = 10, 1200
    config.evaluation, config.evaluation_interval, config.evaluation_episodes, config.create_json = True, 60_000, 60, True


def benchmarl(algorithm, side, seed, threads, configure, **calls):
    """Runs an experiment of BenchMARL on Balance, side "vmas" or "cermic"; nothing but the task differs between them."""
    import logging
    import tempfile

    import torch
    from benchmarl.algorithms import MappoConfig, QmixConfig
    from benchmarl.environments import VmasTask
    from benchmarl.experiment import Callback, Experiment, ExperimentConfig
    from benchmarl.models.mlp import MlpConfig

    class Clock(Callback):
        def on_batch_collected(self, batch):
            calls.get("on_batch_collected", nothing)(batch)

        def on_train_end(self, training_td, group):
            calls.get("on_train_end", nothing)(training_td, group)

        def on_evaluation_end(self, rollouts):
            calls.get("on_evaluation_end", nothing)(rollouts)

    Clock.__qualname__ = "Clock"
    globals()["Clock"] = Clock  # BenchMARL pickles its callbacks
    logging.disable(logging.WARNING)
    torch.set_num_threads(threads)
    if side == "cermic":
        from cermic_envs.benchmarl import CermicTask

        task = CermicTask.BALANCE.get_task(config={"reward": "dense"})
    else:
        task = VmasTask.BALANCE.get_from_yaml()
    with tempfile.TemporaryDirectory() as folder:
        config = ExperimentConfig.get_from_yaml()
        config.sampling_device = config.train_device = config.buffer_device = "cpu"
        config.loggers, config.create_json, config.checkpoint_at_end, config.render, config.save_folder = [], False, False, False, folder
        configure(config)
        experiment = Experiment(
            task=task,
            algorithm_config={"mappo": MappoConfig, "qmix": QmixConfig}[algorithm].get_from_yaml(),
            model_config=mlp(MlpConfig, torch),
            critic_model_config=mlp(MlpConfig, torch),
            seed=seed,
            config=config,
            callbacks=[Clock()],
        )
        stdout, sys.stdout = sys.stdout, sys.stderr
        experiment.run()
        sys.stdout = stdout


def nothing(*_):
    pass


def mlp(config, torch):
    made = config.get_from_yaml()
    made.num_cells, made.layer_class, made.activation_class = [256, 256], torch.nn.Linear, torch.nn.Tanh
    return made


def milliseconds(run, rounds):
    """Of one of rounds steps: the median of seven runs, after one that warms up."""
    run()
    took = []
    for _ in range(7):
        start = time.perf_counter()
        run()
        took.append(1000 * (time.perf_counter() - start) / rounds)
    return sorted(took)[len(took) // 2]


def update(frames, rounds, compiled):
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

    def losses():
        location, scale = actor(obs).chunk(2, -1)
        scale = nn.functional.softplus(scale + biased).clamp_min(1e-4)
        normal = torch.distributions.Normal(location, scale)
        squash = 2 * (0.6931471805599453 - raw - nn.functional.softplus(-2 * raw))
        change = (normal.log_prob(raw) - squash).sum(-1) - logp
        ratio = change.exp()
        objective = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        value = critic(obs.flatten(1))
        return -objective, (value - target).square().mean()

    def adam(module, optimiser):
        nn.utils.clip_grad_norm_(module.parameters(), 5)
        optimiser.step()

    if compiled:
        losses, adam = torch.compile(losses), torch.compile(adam)

    def step():
        for optimiser in optimisers:
            optimiser.zero_grad()
        sum(losses()).backward()
        adam(actor, optimisers[0])
        adam(critic, optimisers[1])

    return milliseconds(lambda: [step() for _ in range(rounds)], rounds)


def forward(net, x):
    import jax

    for weight, bias in net[:-1]:
        x = jax.numpy.tanh(x @ weight + bias)
    return x @ net[-1][0] + net[-1][1]


def jax_learner(log_prob, agents, width, outputs):
    """Returns a state of networks and optimisers, and a function that takes a gradient step on the rows of each minibatch in one loop."""
    import jax
    import numpy as np
    import optax

    draw, adam = np.random.default_rng(0), optax.chain(optax.clip_by_global_norm(5.0), optax.adam(1e-4, eps=1e-6))
    optimiser = optax.partition({"actor": adam, "critic": adam}, {"actor": "actor", "critic": "critic"})

    def net(*widths):
        return [tuple(np.float32(draw.uniform(-1, 1, shape) / i**0.5) for shape in ((i, o), o)) for i, o in zip(widths, widths[1:])]

    def losses(nets, batch):
        ratio = jax.numpy.exp(log_prob(forward(nets["actor"], batch["obs"]), batch["action"]) - batch["logp"])
        objective = jax.numpy.minimum(ratio * batch["advantage"], ratio.clip(0.8, 1.2) * batch["advantage"]).mean()
        value = forward(nets["critic"], batch["obs"].reshape(len(batch["obs"]), -1))
        error = jax.numpy.square(value - batch["target"]).mean()
        return error - objective, (-objective, error)

    def learn(state, data, minibatches):
        def step(state, rows):
            gradients, report = jax.grad(losses, has_aux=True)(state[0], {name: x[rows] for name, x in data.items()})
            change, moments = optimiser.update(gradients, state[1])
            return (optax.apply_updates(state[0], change), moments), report

        return jax.lax.scan(step, state, minibatches)

    nets = {"actor": net(width, 256, 256, outputs), "critic": net(agents * width, 256, 256, 1)}
    return jax.device_put((nets, optimiser.init(nets))), jax.jit(learn)


def jax_update(frames, rounds):
    """As update, in one compiled loop. Each step gathers the frames in a new order, as BenchmarkMAPPOUpdate does."""
    import jax
    import numpy as np

    def log_prob(outputs, raw):
        location, scale = jax.numpy.split(outputs, 2, -1)
        scale = jax.nn.softplus(scale + np.log(np.expm1(1.0))).clip(1e-4)
        squash = 2 * (np.log(2.0) - raw - jax.nn.softplus(-2 * raw))
        return (jax.scipy.stats.norm.logpdf(raw, location, scale) - squash).sum(-1)

    agents, act, draw = 4, 2, np.random.default_rng(0)
    shapes = {"obs": (OBS,), "action": (act,), "logp": (), "advantage": (), "target": ()}
    data = {name: draw.standard_normal((frames, agents, *shape), np.float32) for name, shape in shapes.items()}
    data["logp"] -= 3
    data, minibatches = jax.device_put((data, np.stack([draw.permutation(frames) for _ in range(rounds)])))
    state, learn = jax_learner(log_prob, agents, OBS, 2 * act)
    return milliseconds(lambda: jax.block_until_ready(learn(state, data, minibatches)), rounds)


def jax_train(iterations, frames, envs, epochs, size):
    """Rollout, targets and epochs are one compiled function. Each group has an actor and a critic of the group's observations."""
    import jax
    import jaxmarl

    jnp, split, env = jax.numpy, jax.random.split, jaxmarl.make("MPE_simple_adversary_v3", max_steps=100)
    groups, order = (env.adversaries, env.good_agents), jnp.tile(jnp.arange(frames), (epochs, 1))

    def of(group, values):
        return jnp.stack([values[agent] for agent in group], 1)

    def log_prob(logits, choice):
        return jnp.take_along_axis(jax.nn.log_softmax(logits), choice[..., None], -1)[..., 0]

    def advantages(after, at):
        reward, value, following, live = at
        after = reward + 0.99 * live * (following + 0.9 * after) - value
        return after, after

    def frame(states, world, key):
        (obs, state), (key, *keys), actions, rollouts = world, split(key, 3), {}, []
        for group, (nets, _), key_of_group in zip(groups, states, keys):
            logits = forward(nets["actor"], of(group, obs))
            choice = jax.random.categorical(key_of_group, logits)
            rollouts.append({"obs": of(group, obs), "action": choice, "logp": log_prob(logits, choice)})
            actions.update(zip(group, choice.T))
        obs, state, reward, done, _ = jax.vmap(env.step)(split(key, envs), state, actions)
        return (obs, state), (rollouts, [of(group, reward) for group in groups], 1.0 - done["__all__"][:, None])

    @jax.jit
    def iterate(states, world, key):
        (key, *keys), out = split(key, 3), []
        world, (rollouts, rewards, live) = jax.lax.scan(lambda *x: frame(states, *x), world, split(key, frames // envs))
        for group, (_, learn), state, data, reward, key in zip(groups, learners, states, rollouts, rewards, keys):
            seen = jnp.concatenate([data["obs"], of(group, world[0])[None]])
            value = forward(state[0]["critic"], seen.reshape(*seen.shape[:2], -1))
            data["advantage"] = jax.lax.scan(advantages, 0 * reward[0], (reward, value[:-1], value[1:], live), reverse=True)[1]
            data["target"] = data["advantage"] + value[:-1]
            data = {name: x.reshape(frames, *x.shape[2:]) for name, x in data.items()}
            minibatches = jax.random.permutation(key, order, axis=1, independent=True).reshape(-1, size)
            out.append(learn(state, data, minibatches)[0])
        return out, world

    learners = [jax_learner(log_prob, len(group), env.observation_spaces[group[0]].shape[0], 5) for group in groups]
    first, *keys = split(jax.random.key(0), iterations + 1)
    states, world, at = [state for state, _ in learners], jax.vmap(env.reset)(split(first, envs)), []
    for key in keys:
        states, world = jax.block_until_ready(iterate(states, world, key))
        at.append(time.perf_counter())
    return max(frames / (b - a) for a, b in zip(at, at[1:]))


OBS = 16  # numbers that an agent of Balance observes

def install_meltingpot():
    """Its set-up would download the trained bots, but accepts an archive in the folder for temporary files instead."""
    if importlib.util.find_spec("meltingpot"):
        return
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "bots", "assets"))
        shutil.make_archive(os.path.join(folder, "meltingpot-assets-2.3.0"), "gztar", os.path.join(folder, "bots"))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "dm-meltingpot==2.4.1"], env={**os.environ, "TMPDIR": folder}, check=True)


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "steps":
        print(steps(rest[0], int(rest[1])))
    elif verb == "train":
        print(train(rest[0], int(rest[1]), rest[2:]))
    elif verb == "python":
        print(ours(rest[0], int(rest[1]), rest[2:] == ["pixels"]))
    elif verb == "substrate":
        print(lab2d(rest[0]))
    elif verb == "collect":
        print(collect(rest[0]))
    elif verb == "learn":
        learn(*rest)
    elif verb in ("update", "update-compiled"):
        print(update(*map(int, rest), verb == "update-compiled"))
    elif verb == "update-jax":
        print(jax_update(*map(int, rest)))
    elif verb == "train-jax":
        print(jax_train(*map(int, rest)))
    elif verb == "install-meltingpot":
        install_meltingpot()
    else:
        raise SystemExit(f"unknown figure {verb}")
